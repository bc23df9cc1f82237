import { recordOf } from '../../../platform/unknown-values.ts'
import { type Page, type Property, plainText, type RichText } from '../client/wire.ts'

/** Returns a database row as `Column: value; …`, the title first, without empty and unsupported values. */
export function rowText({ properties }: Page): string {
  const columns = Object.entries(properties ?? {}).map(([name, property]) => ({
    name,
    isTitle: property?.type === 'title',
    text: propertyText(property).replace(/\s+/g, ' ').trim(),
  }))
  return columns
    .sort((a, b) => Number(b.isTitle) - Number(a.isTitle))
    .filter(({ text }) => text !== '')
    .map(({ name, text }) => `${name}: ${text}`)
    .join('; ')
}

function propertyText(property: Property | undefined): string {
  const type = property?.type ?? ''
  const value = property?.[type]
  switch (type) {
    case 'title':
    case 'rich_text':
      return plainText(value as RichText)
    case 'number':
    case 'url':
    case 'email':
    case 'phone_number':
      return scalar(value)
    case 'checkbox':
      return value === true ? 'yes' : 'no'
    case 'select':
    case 'status':
      return nameOf(value)
    case 'multi_select':
      return Array.isArray(value) ? value.map(nameOf).filter(Boolean).join(', ') : ''
    case 'date':
      return ['start', 'end']
        .map((edge) => scalar(member(value, edge)))
        .filter(Boolean)
        .join(' – ')
    case 'formula':
      return scalar(member(value, String(member(value, 'type'))))
    case 'unique_id':
      return ['prefix', 'number']
        .map((part) => scalar(member(value, part)))
        .filter(Boolean)
        .join('-')
    default:
      return ''
  }
}

const member = (value: unknown, name: string): unknown => recordOf(value)[name]

const nameOf = (value: unknown): string => scalar(member(value, 'name'))

const scalar = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
