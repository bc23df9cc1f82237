import type { parseHTML } from 'linkedom'
import { lettersOnly } from '../../../platform/text/words/words.ts'
import { type HtmlElement, textOf } from './html-node.ts'

type Document = ReturnType<typeof parseHTML>['document']
type Element = ReturnType<Document['createElement']>

/** Longer lists, such as the countries of the world, only serve to fill in a form. */
const MAX_OPTIONS = 16
const MAX_LENGTH = 600
/** Selects beyond this number are ignored, because the page is searched for the label of each. */
const MAX_SELECTS = 100
const MAX_ABBREVIATIONS = 500
const MAX_TITLE_LENGTH = 150
/** Matches a title that gives the exact date of a word such as "yesterday". */
const DATE = /\d{4}-\d{2}|\d{1,2}:\d{2}/
const FORM_MATERIAL =
  /(?:^|[\s_-]|\[)(?:lang|language|locale|countr(?:y|ies)|province|currency|sort(?:ing|by)?|order-?by|filter|qty|quantity|quantit[yéà]|per-?page|page-?size|limit|day|month|year|prefix|dial-?code|salutation|gender|time-?zone|theme)(?:$|[\s_-]|\])/i
/** A select beside one of these fields asks the visitor something instead of telling what is offered. */
const FIELDS =
  'input:not([type]), input[type=text], input[type=email], input[type=tel], input[type=date], textarea'
/** Matches a price, a size or a duration, but not the dialling code of a country. */
const FIGURE = /(?<![\d+])\d[\s\d.,–-]*(?:[\p{L}%€$£¥₩₽₺"″]|$)|[€$£¥]\s?\d/u

const MAX_CONTROLS = 200
const CONTROLS = '[aria-expanded][aria-controls], [role=tab][aria-controls]'
const MENUS =
  'nav, header, dialog, [role=navigation], [role=menu], [role=menubar], [role=dialog], [role=listbox]'
const HEADINGS = 'h1, h2, h3, h4, h5, h6, dt, summary'

/**
 * Adds to the text of a page what browsers show only on demand: what buttons and tabs open, the options of selects that
 * tell what a company offers, the long forms of abbreviations, and the names of headings that are pictures.
 */
export function expandHiddenText(document: Document): void {
  for (const root of document.querySelectorAll('template[shadowrootmode]'))
    root.replaceWith(...root.childNodes)
  openFolded(document)
  nameHeadings(document)
  for (const select of [...document.querySelectorAll('select')].slice(0, MAX_SELECTS)) {
    const choices = choicesOf(select)
    if (choices === null) continue
    const label = labelOf(document, select)
    const name = label ? textOf(label) : (select.getAttribute('aria-label') ?? '')
    const isBeside = label?.contains(select) || label === select.previousElementSibling
    const before = select.previousSibling
    // Remove the space between the label and the colon that follows it.
    if (isBeside && before?.nodeType === 3) before.textContent = (before.textContent ?? '').trimEnd()
    const lead = name === '' ? '' : `${isBeside ? '' : name}${/[:：]$/.test(name) ? ' ' : ': '}`
    select.replaceWith(document.createTextNode(lead + choices), document.createElement('br'))
  }
  spellOutAbbreviations(document)
}

/** Puts what a button or tab opens under its name, as a part of the page that can be folded has it. */
function openFolded(document: Document): void {
  const open = new Set<Element>()
  for (const control of [...document.querySelectorAll(CONTROLS)].slice(0, MAX_CONTROLS)) {
    const panel = document.getElementById(control.getAttribute('aria-controls') ?? '')
    if (!panel || open.has(panel) || panel.contains(control)) continue
    if (panel.closest(MENUS) || control.closest(MENUS)) continue
    open.add(panel)
    panel.removeAttribute('hidden')
    const name = textOf(control)
    if (name === '' || control.contains(panel) || control.closest(HEADINGS)) continue
    const [folded, summary] = [document.createElement('details'), document.createElement('summary')]
    summary.textContent = name
    panel.before(folded)
    folded.append(summary, panel)
    control.remove()
  }
  const named = HEADINGS.split(', ').map((heading) => `${heading} button`)
  for (const button of document.querySelectorAll(named.join(', '))) button.replaceWith(...button.childNodes)
}

/** A heading may be the picture of a name. */
function nameHeadings(document: Document): void {
  for (const heading of document.querySelectorAll('h1, h2, h3, h4, h5, h6'))
    if (textOf(heading) === '')
      for (const image of heading.querySelectorAll('img[alt]'))
        image.replaceWith(document.createTextNode(image.getAttribute('alt') ?? ''))
}

function labelOf(document: Document, select: Element): Element | null {
  const labels = select.id ? [...document.querySelectorAll('label')] : []
  return select.closest('label') ?? labels.find((label) => label.getAttribute('for') === select.id) ?? null
}

/** Returns the options of a select as text if they tell what a company offers; null if they are material for a form. */
function choicesOf(select: HtmlElement): string | null {
  if (select.closest('nav, dialog, [role=search], [role=navigation], [hidden]')) return null
  if (select.closest('header, footer') && !select.closest('main, article')) return null
  const names = ['name', 'id', 'aria-label', 'autocomplete'].map((name) => select.getAttribute(name) ?? '')
  const options = [...select.querySelectorAll('option')].filter(isChoice)
  const texts = new Set(options.map(textOf))
  const text = [...new Set(options.map(withGroup))].join(', ')
  // Quantities and years begin so, and parts of dates with a zero.
  const isSequence =
    [...texts].every((one) => /^\d+\+?$/.test(one)) &&
    [...texts].some((one) => /^(?:[01]|0\d|(?:19|20)\d\d)$/.test(one))
  const isTimes = [...texts].every((one) => /^\d{1,2}[:.]\d{2}$/.test(one))
  const hasFigures = [...texts].some((one) => FIGURE.test(one))
  const asksVisitor = select.closest('form')?.querySelector(FIELDS)
  const isOffer = texts.size >= 2 && texts.size <= MAX_OPTIONS && text.length <= MAX_LENGTH
  if (
    !isOffer ||
    isSequence ||
    isTimes ||
    (asksVisitor && !hasFigures) ||
    names.some((name) => FORM_MATERIAL.test(name))
  )
    return null
  return text
}

/** Returns an option, the first of a group after the name of the group. */
function withGroup(option: HtmlElement): string {
  const group = option.closest('optgroup')
  const label = group?.querySelector('option') === option ? group.getAttribute('label') : null
  return label ? `${label} – ${textOf(option)}` : textOf(option)
}

/** Returns whether an option can be chosen, unlike "Please choose" and separators. */
function isChoice(option: HtmlElement): boolean {
  const text = textOf(option)
  return option.getAttribute('value') !== '' && /[\p{L}\p{N}]/u.test(text) && !/^[-–—]|(?:…|\.\.)$/.test(text)
}

/** The long form follows the first place in the text that has the abbreviation, unless the page says it elsewhere. */
function spellOutAbbreviations(document: Document): void {
  const abbreviations = [...document.querySelectorAll('abbr[title], acronym[title], dfn[title]')]
  const said = abbreviations.length > 0 ? lettersOnly(document.documentElement.textContent ?? '') : ''
  const done = new Set<string>()
  for (const element of abbreviations.slice(0, MAX_ABBREVIATIONS)) {
    const title = (element.getAttribute('title') ?? '').replace(/\s+/g, ' ').trim()
    const text = textOf(element)
    const isLonger = title.length > text.length && title.length <= MAX_TITLE_LENGTH && /\p{L}/u.test(title)
    if (text === '' || !isLonger || DATE.test(title) || done.has(title)) continue
    if (said.includes(lettersOnly(title)) || element.closest('h1, h2, h3, h4, h5, h6, nav, pre, code'))
      continue
    done.add(title)
    element.after(document.createTextNode(` (${title})`))
  }
}
