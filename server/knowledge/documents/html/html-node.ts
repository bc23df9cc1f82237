import { isBreakEmpty } from '../text/dense-lines.ts'
import { raisedDigits } from '../text/raised-digits.ts'

/** The subset of the DOM that is used here; the server is compiled without the browser's types. */
export type HtmlNode = {
  nodeType: number
  textContent: string | null
  childNodes: Iterable<HtmlNode>
  parentNode: HtmlNode | null
  remove(): void
}

export type HtmlElement = HtmlNode & {
  tagName: string
  id: string
  children: Iterable<HtmlElement>
  parentElement: HtmlElement | null
  previousElementSibling: HtmlElement | null
  getAttribute(name: string): string | null
  hasAttribute(name: string): boolean
  querySelector(selector: string): HtmlElement | null
  querySelectorAll(selector: string): Iterable<HtmlElement>
  closest(selector: string): HtmlElement | null
  contains(other: HtmlElement): boolean
}

export const isElement = (node: HtmlNode): node is HtmlElement => node.nodeType === 1

const names = (list: string): ReadonlySet<string> => new Set(list.split(' '))

/** Elements without readable content. */
export const SKIPPED = names(
  'SCRIPT STYLE NOSCRIPT TEMPLATE SVG IFRAME OBJECT CANVAS SELECT DATALIST BUTTON TITLE',
)

/** Elements that begin and end a paragraph. */
export const BLOCKS = names(
  'ADDRESS ARTICLE ASIDE BLOCKQUOTE BODY DETAILS DD DIV DL DT FIELDSET FIGCAPTION FIGURE FOOTER FORM HEADER HR HTML ' +
    'MAIN NAV OL P SECTION SUMMARY TABLE TR UL',
)

const APART = [...BLOCKS, 'BR', 'DL', 'LI', 'PRE', 'TABLE', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6']
  .join(',')
  .toLowerCase()
/** Returns whether an element has others inside that are not part of a line. */
export const hasBlock = (element: HtmlElement): boolean => element.querySelector(APART) !== null

export const nameOf = ({ tagName }: HtmlElement): string => tagName.toUpperCase()

/** Collapses white space to single spaces, and removes line breaks between Chinese or Japanese characters. */
export function spaced(text: string): string {
  if (!/\s/.test(text)) return text
  return text.replace(/\s+/g, (gap, at: number) =>
    gap.includes('\n') &&
    isBreakEmpty(text.slice(Math.max(at - 2, 0), at), text.slice(at + gap.length, at + gap.length + 2))
      ? ''
      : ' ',
  )
}

/** Returns the text of an element in one line; nested blocks are separated. */
export function textOf(element: HtmlElement): string {
  let text = ''
  const visit = (node: HtmlNode): void => {
    if (node.nodeType === 3) text += spaced(node.textContent ?? '')
    if (!isElement(node)) return
    const name = nameOf(node)
    if (SKIPPED.has(name)) return
    if (name === 'SUP' && /^\d+$/.test(node.textContent ?? '')) {
      text += raisedDigits(node.textContent ?? '')
      return
    }
    if (name === 'LI' && /\S\s*$/.test(text)) text = `${text.trimEnd()}, `
    const isApart = name === 'BR' || BLOCKS.has(name) || name === 'PRE' || name === 'TD' || name === 'TH'
    if (isApart) text += ' '
    for (const inner of node.childNodes) visit(inner)
    if (isApart) text += ' '
  }
  for (const child of element.childNodes) visit(child)
  return text.replace(/\s+/g, ' ').trim()
}

/**
 * Returns the text of a heading without its link to itself. A number sign that directly follows the text and is no link
 * belongs to it, as in "C#".
 */
export function headingText(element: HtmlElement): string {
  const isLinked = [...element.querySelectorAll('a, span')].some(
    ({ textContent }) => textContent?.trim() === '#',
  )
  const mark = isLinked ? /\s*[¶§#🔗]+$/u : /\s*[¶§🔗]+$|\s+#$/u
  return textOf(element).replace(mark, '').trim()
}

/** Returns the id by which a browser finds an element: its own, or that of an anchor inside it. */
export function anchorIn(element: HtmlElement): string | null {
  if (element.id) return element.id
  const inner = element.querySelector('[id], a[name]')
  return inner?.id || inner?.getAttribute('name') || null
}
