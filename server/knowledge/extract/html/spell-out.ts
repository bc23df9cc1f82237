import type { parseHTML } from 'linkedom'
import { lettersOnly } from '../../../text/words/words.ts'
import { choicesOf, nameOfSelect } from './html-choices.ts'
import { type HtmlElement, textOf } from './html-node.ts'

type Document = ReturnType<typeof parseHTML>['document']
type Element = ReturnType<Document['createElement']>

/** Selects beyond this number are ignored, because the page is searched for the label of each. */
const MOST_SELECTS = 100
const MOST_ABBREVIATIONS = 500
const LONGEST_TITLE = 150
/** Matches a title that gives the exact date of a word such as "yesterday". */
const DATE = /\d{4}-\d{2}|\d{1,2}:\d{2}/

/**
 * Adds to the text of a page what browsers show only on demand: the options of selects that tell what a company offers,
 * and the long forms of abbreviations.
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
  const said = lettersOnly(document.documentElement.textContent ?? '')
  const done = new Set<string>()
  for (const element of abbreviations) {
    const title = (element.getAttribute('title') ?? '').replace(/\s+/g, ' ').trim()
    const text = textOf(element as HtmlElement)
    const isLonger = title.length > text.length && title.length <= LONGEST_TITLE && /\p{L}/u.test(title)
    if (text === '' || !isLonger || DATE.test(title) || done.has(title)) continue
    if (said.includes(lettersOnly(title)) || element.closest('h1, h2, h3, h4, h5, h6, nav, pre, code'))
      continue
    done.add(title)
    element.after(document.createTextNode(` (${title})`))
  }
}
