import { createHmac } from 'node:crypto'
import { REPORT_TAG } from '../outcome-report.ts'

/** The names of the elements in which the prompt quotes text of others. */
export const PASSAGE = 'passage'
const EARLIER = 'earlier'
const CUSTOMER = 'customer'
/** The names of the blocks beside the newest message: what others have written, and what the company says. */
const DATA = 'data'
const COMPANY = 'company'

const KEY_LENGTH = 12

/**
 * Returns what the names of a conversation's blocks end with. It stays the same as long as the conversation goes on, so
 * that providers can cache the prompt, and nobody who writes into a block can guess it.
 */
export const blockKey = (secret: string, conversationId: string): string =>
  createHmac('sha256', secret).update(`blocks of ${conversationId}`).digest('hex').slice(0, KEY_LENGTH)

export const dataName = (key: string): string => `${DATA}-${key}`
export const companyName = (key: string): string => `${COMPANY}-${key}`

export const element = (name: string, text: string): string => `<${name}>\n${text}\n</${name}>`

export const passageStart = (number: number | string): string => `<${PASSAGE} number="${number}"`

/** Returns a text without the key of the blocks, which a model may have told its author. */
export const withoutKey = (text: string, key: string): string =>
  text.toLowerCase().includes(key) ? text.replaceAll(new RegExp(key, 'gi'), '…') : text

const NAMES = [PASSAGE, EARLIER, CUSTOMER, DATA, COMPANY].join('|')
const MARKUP = new RegExp(`<(?=\\s{0,9}/?\\s{0,9}(?:${NAMES})\\b)`, 'gi')

/** Escapes untrusted text, so that it cannot close the block that contains it, nor report how the answer ends. */
export const asData = (text: string): string => text.replace(MARKUP, '&lt;').replace(REPORT_TAG, '&lt;')

/** Returns attributes of an element; those without a value are left out. */
export const attributes = (values: Record<string, string | number | null | undefined>): string =>
  Object.entries(values)
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value]) => ` ${name}=${JSON.stringify(asTitle(String(value)))}`)
    .join('')

const asTitle = (text: string): string => text.replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Returns summaries of what was said before the messages that the prompt holds; null when there are none. */
export const earlierText = (summaries: readonly (string | null)[]): string | null => {
  const said = summaries.filter(Boolean).map((summary) => asData(summary ?? ''))
  return said.length === 0 ? null : element(EARLIER, said.join('\n\n'))
}

/** What is known of the customer beside their words. */
export type Customer = {
  name: string | null
  country: string | null
  /** The page of the website on which they write. */
  page: string | null
  attributes: Record<string, string | number | boolean>
}

export function customerText({ name, country, page, attributes: own }: Customer): string | null {
  const about = attributes({ name, country, page })
  const lines = Object.entries(own).map(([key, value]) => `${oneLine(key)}: ${oneLine(String(value))}`)
  if (about === '' && lines.length === 0) return null
  const text = asData(lines.join('\n').slice(0, MAX_ATTRIBUTES).toWellFormed())
  return `<${CUSTOMER}${about}>\n${text}\n</${CUSTOMER}>`
}

/** The most characters of a customer's attributes. */
const MAX_ATTRIBUTES = 4_000

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

const OWN_NAMES = new RegExp(
  `\\b(?:${DATA}|${COMPANY})-[0-9a-f]{${KEY_LENGTH},64}|${passageStart('\\d+')}`,
  'g',
)

/** Removes the names of blocks and the numbers of passages, which are no evidence for what an answer says. */
export const withoutOwnNames = (text: string): string => text.replace(OWN_NAMES, '')
