import { MIN_BOLD_TITLES } from './heading-path.ts'
import { type HtmlElement, hasBlock, headingText, isElement, nameOf, textOf } from './html-node.ts'

/** Returns the summary of a folded part of a page if it can serve as its title, and null otherwise. */
export function summaryOf(details: HtmlElement): HtmlElement | null {
  const summary = [...details.children].find((child) => nameOf(child) === 'SUMMARY') ?? null
  if (!summary || summary.querySelector('h1, h2, h3, h4, h5, h6')) return null
  const { length } = headingText(summary)
  return length > 0 && length <= MAX_SUMMARY_LENGTH ? summary : null
}

const MAX_SUMMARY_LENGTH = 200
export const NO_TITLES: ReadonlyMap<HtmlElement, HtmlElement> = new Map()
const MAX_TITLE_LENGTH = 80
const BOLD = 'p > strong:first-child, p > b:first-child, div > strong:first-child, div > b:first-child'

/** Matches the caption of a figure or table, such as "Figure 2.1". */
const CAPTION = /^\p{L}+\.?\s+\d+\.\d+/u

/**
 * Returns the paragraphs whose first line is entirely bold, each with the element that is its title. A title does not end
 * like a sentence. A single one does not count, because it may be mere emphasis.
 */
export function boldTitles(root: HtmlElement): ReadonlyMap<HtmlElement, HtmlElement> {
  const titles = new Map<HtmlElement, HtmlElement>()
  for (const strong of root.querySelectorAll(BOLD)) {
    const paragraph = strong.parentElement
    // Only what is small is read, because pages may be nested deeply.
    const isHidden = strong.hasAttribute('hidden') || strong.querySelector('[hidden]') !== null
    if (isHidden || hasBlock(strong) || !paragraph || !isLineOfItsOwn(strong, paragraph)) continue
    const text = textOf(strong)
    const isTitle =
      text.length <= MAX_TITLE_LENGTH &&
      /\p{L}/u.test(text) &&
      !/[.!,;。！，；]$/u.test(text) &&
      !CAPTION.test(text)
    if (isTitle && !paragraph.closest('li, td, th, dl, blockquote')) titles.set(paragraph, strong)
  }
  return titles.size >= MIN_BOLD_TITLES ? titles : NO_TITLES
}

/** Returns whether a paragraph begins with an element and has nothing else in its first line. */
function isLineOfItsOwn(element: HtmlElement, paragraph: HtmlElement): boolean {
  for (const node of paragraph.childNodes) {
    if (node === element) continue
    if (isElement(node)) return nameOf(node) === 'BR'
    if ((node.textContent ?? '').trim() !== '') return false
  }
  return true
}
