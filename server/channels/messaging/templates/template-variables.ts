import { ApiError } from '../../../platform/http/errors.ts'
import type { ProviderTemplate, TemplateValues } from '../connection/provider-adapter.ts'

type Keys = { header: string[]; body: string[] }
type VariableValues = { header?: Record<string, string>; body?: Record<string, string> }

const MEDIA: readonly string[] = ['IMAGE', 'VIDEO', 'DOCUMENT']
/** Buttons of these types cannot be sent without a value of their own. */
const VALUED_BUTTONS: readonly string[] = ['COPY_CODE', 'OTP', 'MPM']

/** Returns the keys in a template's texts, ordered by number or by first occurrence. */
export function variablesOf({ components }: ProviderTemplate): Keys {
  const header = components.find(({ type }) => type === 'HEADER')
  const body = components.find(({ type }) => type === 'BODY')
  return {
    // The value of a picture, video or document is its URL.
    header: MEDIA.includes(header?.format ?? '') ? ['1'] : keysOf(header?.text),
    body: keysOf(body?.text),
  }
}

function keysOf(text = ''): string[] {
  const keys = [...new Set([...text.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, key]) => key ?? ''))]
  return keys.every((key) => /^\d+$/.test(key)) ? keys.sort((a, b) => Number(a) - Number(b)) : keys
}

/**
 * Returns the values in the order of the template's keys. Throws MISSING_TEMPLATE_VARIABLES,
 * INVALID_TEMPLATE_VARIABLES and TEMPLATE_BUTTONS_UNSUPPORTED.
 */
export function checkVariables(template: ProviderTemplate, given: VariableValues): TemplateValues {
  const keys = variablesOf(template)
  const places = ['header', 'body'] as const
  const givenAt = (place: 'header' | 'body', key: string): string | undefined =>
    Object.hasOwn(given[place] ?? {}, key) ? given[place]?.[key] : undefined
  const missing = places.flatMap((place) =>
    keys[place].filter((key) => givenAt(place, key) === undefined).map((key) => `${place}[${key}]`),
  )
  if (missing.length > 0)
    throw new ApiError('MISSING_TEMPLATE_VARIABLES', { details: { missing: missing.join(', ') } })
  const isMedia = MEDIA.includes(template.components.find(({ type }) => type === 'HEADER')?.format ?? '')
  const invalid = places.flatMap((place) =>
    Object.entries(given[place] ?? {}).flatMap(([key, value]) => {
      const reason = keys[place].includes(key)
        ? problemOf(value, isMedia && place === 'header')
        : 'the template has no such variable'
      return reason === null ? [] : [`${place}[${key}] (${reason})`]
    }),
  )
  if (invalid.length > 0)
    throw new ApiError('INVALID_TEMPLATE_VARIABLES', { details: { invalid: invalid.join(', ') } })
  refuseButtons(template)
  const values = (place: 'header' | 'body'): Record<string, string> =>
    Object.fromEntries(keys[place].map((key) => [key, givenAt(place, key) ?? '']))
  return { header: values('header'), body: values('body') }
}

function problemOf(value: string, isAddress: boolean): string | null {
  if (value.trim() === '') return 'is empty'
  if (/[\r\n\u2028\u2029]/.test(value)) return 'holds a line break'
  if (value.includes('\t')) return 'holds a tab'
  if (/ {5}/.test(value)) return 'holds more than four spaces in a row'
  if (isAddress && URL.parse(value)?.protocol !== 'https:')
    return 'must be an address that begins with https://'
  return null
}

function refuseButtons({ components }: ProviderTemplate): void {
  const buttons = components.flatMap((component) => component.buttons ?? [])
  const unsupported = buttons.filter(
    ({ type, url = '' }) => VALUED_BUTTONS.includes(type) || url.includes('{{'),
  )
  if (unsupported.length === 0) return
  const names = unsupported.map(({ type, text }) => `${text} (${type})`)
  throw new ApiError('TEMPLATE_BUTTONS_UNSUPPORTED', { details: { buttons: names.join(', ') } })
}

/** Returns the text that the recipient reads. */
export function renderTemplate({ components }: ProviderTemplate, values: TemplateValues): string {
  const fill = (text: string, given: Record<string, string>): string =>
    text.replace(/\{\{\s*(\w+)\s*\}\}/g, (whole, key: string) =>
      Object.hasOwn(given, key) ? (given[key] ?? whole) : whole,
    )
  return components
    .map(({ type, format, text = '' }) => {
      if (type === 'HEADER' && MEDIA.includes(format ?? '')) return values.header['1'] ?? ''
      if (type === 'HEADER') return fill(text, values.header)
      return type === 'BODY' ? fill(text, values.body) : type === 'FOOTER' ? text : ''
    })
    .filter((text) => text !== '')
    .join('\n\n')
}
