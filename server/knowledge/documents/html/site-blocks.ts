import { createHash } from 'node:crypto'
import { lettersOnly } from '../../../platform/text/words/words.ts'
import type { Section } from '../extracted-document.ts'
import { BLOCKS, type HtmlElement, type HtmlNode, isElement, nameOf, SKIPPED, textOf } from './html-node.ts'

/** A line or paragraph of a page. */
type Block = { nodes: HtmlNode[]; hash: string }

const APART = new Set([
  ...BLOCKS,
  'LI',
  'PRE',
  'TD',
  'TH',
  'DD',
  'DT',
  'H1',
  'H2',
  'H3',
  'H4',
  'H5',
  'H6',
  'BR',
])
const HEADING = /^(?:H[1-6]|DT|SUMMARY)$/
const MAX_BLOCKS = 2_000
const HASH_LENGTH = 12

/** Returns the hash of what a block says, by which it is found on other pages; an empty text if it says nothing. */
const hashOf = (text: string): string => {
  const letters = lettersOnly(text)
  return letters === '' ? '' : createHash('sha256').update(letters).digest('base64url').slice(0, HASH_LENGTH)
}

const hasApart = ({ children }: HtmlElement): boolean =>
  [...children].some((child) => APART.has(nameOf(child)))

/** A value means nothing without the label beside it, so a row of a table is one block. */
const isRow = (element: HtmlElement): boolean =>
  nameOf(element) === 'TR' && [...element.children].every((cell) => !hasApart(cell))

/** Returns the blocks of a page apart from those in some of its parts. */
export function blocksOf(root: HtmlElement, isPassedOver: (element: HtmlElement) => boolean): Block[] {
  const found: Block[] = []
  let open: HtmlNode[] = []
  const close = (): void => {
    const text = open.map((node) => (isElement(node) ? textOf(node) : (node.textContent ?? ''))).join(' ')
    const hash = hashOf(text)
    if (hash !== '' && found.length < MAX_BLOCKS) found.push({ nodes: open, hash })
    open = []
  }
  const visit = (element: HtmlElement): void => {
    for (const node of element.childNodes) {
      if (!isElement(node)) {
        if (node.nodeType === 3) open.push(node)
      } else if (SKIPPED.has(nameOf(node)) || nameOf(node) === 'HEAD' || isPassedOver(node)) close()
      else if (isRow(node)) {
        close()
        open.push(node)
        close()
      } else if (APART.has(nameOf(node)) || hasApart(node)) {
        close()
        visit(node)
        close()
      } else open.push(node)
    }
  }
  visit(root)
  close()
  return found
}

/**
 * Removes the blocks that other pages of the site repeat. Headings stay, because other text may follow them; see
 * withoutEmptyHeadings.
 */
export function removeRepeated(blocks: readonly Block[], repeated: ReadonlySet<string>): void {
  for (const { nodes, hash } of blocks)
    if (repeated.has(hash) && !nodes.some(isInHeading)) for (const node of nodes) node.remove()
}

const isInHeading = ({ parentNode }: HtmlNode): boolean =>
  parentNode !== null && isElement(parentNode) && HEADING.test(nameOf(parentNode))

/** Returns the sections without the headings that other pages repeat and under which nothing is left. */
export const withoutEmptyHeadings = (sections: Section[], repeated: ReadonlySet<string>): Section[] =>
  sections.filter(({ headingPath, text }) => text !== '' || !repeated.has(hashOf(headingPath.at(-1) ?? '')))
