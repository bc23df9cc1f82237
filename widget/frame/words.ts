import {
  CUSTOMER_SENTENCES,
  isCustomerLanguage,
} from '../../server/platform/text/languages/customer-sentences.ts'
import { ar } from './words/ar.ts'
import { de } from './words/de.ts'
import { en, type Word, type Words } from './words/en.ts'
import { es } from './words/es.ts'
import { fr } from './words/fr.ts'
import { it } from './words/it.ts'
import { ja } from './words/ja.ts'
import { nl } from './words/nl.ts'
import { pl } from './words/pl.ts'
import { pt } from './words/pt.ts'
import { tr } from './words/tr.ts'
import { zh } from './words/zh.ts'

const TRANSLATIONS: Record<string, Words> = { en, ar, de, es, fr, it, ja, nl, pl, pt, tr, zh }

const RIGHT_TO_LEFT = /^(ar|fa|he|iw|ur)\b/

let shown: Words = en

/** Sets the language of the controls: that of the embedding page, else that of the browser, else English. */
export function speakLanguage(ofPage: string | null): void {
  const wanted = [ofPage, ...navigator.languages].filter((one) => one !== null)
  const found = wanted.map(codeOf).find((code) => code in TRANSLATIONS) ?? 'en'
  shown = TRANSLATIONS[found] ?? en
  document.documentElement.lang = found
  document.documentElement.dir = RIGHT_TO_LEFT.test(found) ? 'rtl' : 'ltr'
}

const codeOf = (language: string): string => language.toLowerCase().split(/[-_]/)[0] ?? ''

/** Returns a text in the language of the controls. */
export const word = (name: Word, ...values: (string | number)[]): string =>
  shown[name].replace(/\{(\d)\}/g, (_, place) => String(values[Number(place)] ?? ''))

/** Returns a sentence that customers also read in mails and messages. */
export const sentence = (name: keyof (typeof CUSTOMER_SENTENCES)['en']): string => {
  const language = shownLanguage()
  return CUSTOMER_SENTENCES[isCustomerLanguage(language) ? language : 'en'][name]
}

/** Returns the language for formatting dates and times. */
export const shownLanguage = (): string => document.documentElement.lang || 'en'
