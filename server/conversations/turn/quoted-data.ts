import { randomBytes } from 'node:crypto'
import { REPORT_TAG } from './outcome-report.ts'

/** The names of the elements in which the prompt quotes text of others. */
export const PASSAGE = 'passage'
export const EARLIER = 'earlier'
const BLOCK = 'data'

/** Returns the name of the block around them, which nothing in it can guess. */
export const newBlockName = (): string => `${BLOCK}-${randomBytes(6).toString('hex')}`

export const passageStart = (number: number | string): string => `<${PASSAGE} number="${number}"`

const MARKUP = new RegExp(`<(?=\\s{0,9}/?\\s{0,9}(?:${PASSAGE}|${EARLIER}|${BLOCK})\\b)`, 'gi')

/** Escapes untrusted text, so that it cannot close the block that contains it, nor report how the answer ends. */
export const asData = (text: string): string => text.replace(MARKUP, '&lt;').replace(REPORT_TAG, '&lt;')

const OWN_NAMES = new RegExp(`\\b${BLOCK}-[0-9a-f]{6,64}|${passageStart('\\d+')}`, 'g')

/** Removes the names and numbers that the service gives to what it quotes, which say nothing. */
export const withoutOwnNames = (text: string): string => text.replace(OWN_NAMES, '')
