import { type HtmlElement, textOf } from './html-node.ts'

/** Longer lists, such as the countries of the world, only serve to fill in a form. */
const MOST_OPTIONS = 16
const LONGEST = 600
const LONGEST_NAME = 60

const FORM_MATERIAL =
  /(?:^|[\s_-]|\[)(?:lang|language|locale|countr(?:y|ies)|province|currency|sort(?:ing|by)?|order-?by|filter|qty|quantity|quantit[yéà]|per-?page|page-?size|limit|day|month|year|prefix|dial-?code|salutation|gender|time-?zone|theme)(?:$|[\s_-]|\])/i
/** Matches the labels and options of a select that sorts a list of products. */
const SORTING =
  /^(?:sort|order by|ordina|ordenar|trier|tri par|classer|sorteer|sortuj|сортир|sırala|並[びべ]|表示順|排序|정렬)/i
const LANGUAGES = new Set(
  (
    'english deutsch français francais italiano español espanol català português portugues nederlands polski русский ' +
    'українська türkçe 中文 简体中文 繁體中文 繁体中文 日本語 한국어 svenska dansk norsk suomi čeština slovenčina magyar română ' +
    'العربية עברית ελληνικά ไทย हिन्दी hrvatski български'
  ).split(' '),
)
/** A select beside one of these fields asks the visitor something instead of telling what is offered. */
const FIELDS =
  'input:not([type]), input[type=text], input[type=email], input[type=tel], input[type=password], input[type=date], textarea'
/** Matches a price, a size or a duration. */
const FIGURE = /\d[\s\d.,–-]*(?:[\p{L}%€$£¥₩₽₺"″]|$)|[€$£¥]\s?\d/u
/** Matches the dialling code of a country. */
const DIAL_CODE = /\+\d/

/**
 * Returns the options of a select as text if they tell what a company offers, such as sizes or colours; null if they are
 * material for a form, such as quantities, countries, the languages of a site, or what an enquiry may be about.
 */
export function choicesOf(select: HtmlElement): string | null {
  if (select.closest('nav, dialog, [role=search], [role=navigation], [hidden]')) return null
  if (select.closest('header, footer') && !select.closest('main, article')) return null
  const named = ['name', 'id', 'aria-label', 'autocomplete'].map((name) => select.getAttribute(name) ?? '')
  if (named.some((name) => FORM_MATERIAL.test(name)) || named[3] !== '') return null
  const options = [...select.querySelectorAll('option')].filter(isChoice)
  const texts = [...new Set(options.map(textOf))]
  const isFew = texts.length >= 2 && texts.length <= MOST_OPTIONS && texts.join().length <= LONGEST
  if (!isFew || isSequence(texts) || isOfSite(texts) || SORTING.test(nameOfSelect(select).name)) return null
  const asksVisitor = select.closest('form')?.querySelector(FIELDS)
  const hasFigures = texts.some((text) => FIGURE.test(text) && !DIAL_CODE.test(text))
  return asksVisitor && !hasFigures ? null : grouped(options)
}

/** Returns the name of a select, and whether it is the text right before it. */
export function nameOfSelect(select: HtmlElement): { name: string; isBeside: boolean } {
  const around = select.closest('label')
  if (around) return { name: shortened(ownText(around)), isBeside: true }
  const labels = select.id ? [...(select.closest('body, html')?.querySelectorAll('label') ?? [])] : []
  const label = labels.find((one) => one.getAttribute('for') === select.id)
  const name = label ? textOf(label) : (select.getAttribute('aria-label') ?? '')
  return { name: shortened(name), isBeside: label !== undefined && select.previousElementSibling === label }
}

const shortened = (name: string): string => (name.length <= LONGEST_NAME ? name.trim() : '')

/** Returns the text of a label up to the select that it contains. */
function ownText(label: HtmlElement): string {
  let text = ''
  for (const child of label.childNodes) {
    if (child.nodeType === 3) text += child.textContent ?? ''
    else if (child.nodeType === 1 && (child as HtmlElement).tagName.toUpperCase() === 'SELECT') break
    else if (child.nodeType === 1) text += textOf(child as HtmlElement)
  }
  return text.replace(/\s+/g, ' ').trim()
}

/** Returns whether an option can be chosen, unlike "Please choose" and separators. */
function isChoice(option: HtmlElement): boolean {
  const text = textOf(option)
  return option.getAttribute('value') !== '' && /[\p{L}\p{N}]/u.test(text) && !/^[-–—]|(?:…|\.\.)$/.test(text)
}

/** Returns whether the options are consecutive quantities, years, or times of day. */
function isSequence(texts: readonly string[]): boolean {
  if (texts.every((text) => /^\d{1,2}[:.]\d{2}$/.test(text))) return true
  if (!texts.every((text) => /^\d+\+?$/.test(text))) return false
  const first = Number.parseInt(texts[0]!, 10)
  return first <= 1 || first >= 1900 || texts.some((text) => text.length > 1 && text.startsWith('0'))
}

/** Returns whether the options are the languages of the site, or the orders of a list. */
function isOfSite(texts: readonly string[]): boolean {
  const languages = texts.filter((text) => LANGUAGES.has(text.toLowerCase().replace(/\s.*$/, '')))
  return languages.length * 2 > texts.length || texts.some((text) => SORTING.test(text))
}

/** Returns the options as text, each group after its label. */
function grouped(options: readonly HtmlElement[]): string {
  const groups = new Map<string, Set<string>>()
  for (const option of options) {
    const label = option.closest('optgroup')?.getAttribute('label')?.trim() ?? ''
    groups.set(label, (groups.get(label) ?? new Set()).add(textOf(option)))
  }
  return [...groups]
    .map(([label, texts]) => `${label === '' ? '' : `${label} – `}${[...texts].join(', ')}`)
    .join('; ')
}
