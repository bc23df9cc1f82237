import type { parseHTML } from 'linkedom'
import { choicesOf, nameOfSelect } from './html-choices.ts'
import { type HtmlElement, textOf } from './html-node.ts'

type Document = ReturnType<typeof parseHTML>['document']
type Element = ReturnType<Document['createElement']>

/** More of them are not looked at, because the label of each select is searched for. */
const MOST_SELECTS = 100
const MOST_ABBREVIATIONS = 500
const LONGEST_TITLE = 150
/** Such a title is the date behind words like "yesterday". */
const DATE = /\d{4}-\d{2}|\d{1,2}:\d{2}/

/**
 * Writes into the text of a page what it shows only on demand: the options of selects that tell something, and the long
 * forms of abbreviations.
 */
export function spellOut(document: Document): void {
  for (const select of [...document.querySelectorAll('select')].slice(0, MOST_SELECTS))
    spellOutSelect(document, select)
  const abbreviations = document.querySelectorAll('abbr[title], acronym[title], dfn[title]')
  if (abbreviations.length > 0)
    spellOutAbbreviations(document, [...abbreviations].slice(0, MOST_ABBREVIATIONS))
}

function spellOutSelect(document: Document, select: Element): void {
  const choices = choicesOf(select as HtmlElement)
  if (choices === null) return
  const { name, isBeside } = nameOfSelect(select as HtmlElement)
  const lead = name === '' ? '' : `${isBeside ? '' : name}${/[:：]$/.test(name) ? ' ' : ': '}`
  const before = select.previousSibling
  // The colon follows the name without a space.
  if (isBeside && before?.nodeType === 3) before.textContent = (before.textContent ?? '').trimEnd()
  select.replaceWith(document.createTextNode(lead + choices), document.createElement('br'))
}

/** The long form follows the first place in the text that has the abbreviation, unless the page says it elsewhere. */
function spellOutAbbreviations(document: Document, abbreviations: readonly Element[]): void {
  const said = lettersOf(document.documentElement.textContent ?? '')
  const done = new Set<string>()
  for (const element of abbreviations) {
    const title = (element.getAttribute('title') ?? '').replace(/\s+/g, ' ').trim()
    const text = textOf(element as HtmlElement)
    const isLonger = title.length > text.length && title.length <= LONGEST_TITLE && /\p{L}/u.test(title)
    if (text === '' || !isLonger || DATE.test(title) || done.has(title)) continue
    if (said.includes(lettersOf(title)) || element.closest('h1, h2, h3, h4, h5, h6, nav, pre, code')) continue
    done.add(title)
    element.after(document.createTextNode(` (${title})`))
  }
}

const lettersOf = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')
