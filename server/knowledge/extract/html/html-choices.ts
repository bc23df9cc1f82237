import { type HtmlElement, textOf } from './html-node.ts'

/** A longer list, such as that of all countries, is material for a form. */
const MOST_OPTIONS = 16
const LONGEST = 600
const LONGEST_NAME = 60

const FORM_MATERIAL =
  /(?:^|[\s_-]|\[)(?:lang|language|locale|countr(?:y|ies)|province|currency|sort(?:ing|by)?|order-?by|filter|qty|quantity|quantit[yéà]|per-?page|page-?size|limit|day|month|year|prefix|dial-?code|salutation|gender|time-?zone|theme)(?:$|[\s_-]|\])/i
/** The beginnings of the words for sorting, with which a list of goods offers its order. */
const SORTING =
  /^(?:sort|order by|ordina|ordenar|trier|tri par|classer|sorteer|sortuj|сортир|sırala|並[びべ]|表示順|排序|정렬)/i
const LANGUAGES = new Set(
  (
    'english deutsch français francais italiano español espanol català português portugues nederlands polski русский ' +
    'українська türkçe 中文 简体中文 繁體中文 繁体中文 日本語 한국어 svenska dansk norsk suomi čeština slovenčina magyar română ' +
    'العربية עברית ελληνικά ไทย हिन्दी hrvatski български'
  ).split(' '),
)
/** Fields that a visitor fills in, beside which a select asks, too. */
const FIELDS =
  'input:not([type]), input[type=text], input[type=email], input[type=tel], input[type=password], input[type=date], textarea'
/** A price, a size or a duration; not the code of a country for telephones. */
const FIGURE = /\d[\s\d.,–-]*(?:[\p{L}%€$£¥₩₽₺"″]|$)|[€$£¥]\s?\d/u
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

/** Returns the text of a label before the select in it. */
function ownText(label: HtmlElement): string {
  let text = ''
  for (const child of label.childNodes) {
    if (child.nodeType === 3) text += child.textContent ?? ''
    else if (child.nodeType === 1 && (child as HtmlElement).tagName.toUpperCase() === 'SELECT') break
    else if (child.nodeType === 1) text += textOf(child as HtmlElement)
  }
  return text.replace(/\s+/g, ' ').trim()
}

/** An option without a value, such as "Please choose", is none, and neither is one of dots. */
function isChoice(option: HtmlElement): boolean {
  const text = textOf(option)
  return option.getAttribute('value') !== '' && /[\p{L}\p{N}]/u.test(text) && !/^[-–—]|(?:…|\.\.)$/.test(text)
}

/** Quantities from one on, years, and numbers with a zero before them, such as hours. */
function isSequence(texts: readonly string[]): boolean {
  if (texts.every((text) => /^\d{1,2}[:.]\d{2}$/.test(text))) return true
  if (!texts.every((text) => /^\d+\+?$/.test(text))) return false
  const first = Number.parseInt(texts[0]!, 10)
  return first <= 1 || first >= 1900 || texts.some((text) => text.length > 1 && text.startsWith('0'))
}

/** The languages of a site, or the orders of a list. */
function isOfSite(texts: readonly string[]): boolean {
  const languages = texts.filter((text) => LANGUAGES.has(text.toLowerCase().replace(/\s.*$/, '')))
  return languages.length * 2 > texts.length || texts.some((text) => SORTING.test(text))
}

/** Returns the options after the names of their groups. */
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
