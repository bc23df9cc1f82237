import { parseHTML } from 'linkedom'
import { tooComplex } from '../../../knowledge/documents/html/html-shape.ts'
import { isAttribution } from '../inbound/attribution.ts'
import { bareText } from './bare-text.ts'

/** The elements in which mail clients put quotations. */
const QUOTES = [
  'blockquote[type="cite"]',
  'blockquote.gmail_quote',
  '.gmail_quote_container',
  '.gmail_quote',
  '.gmail_attr',
  '.yahoo_quoted',
  '.protonmail_quote',
  '.tutanota_quote',
  'div[name="quote"]',
  '#OLK_SRC_BODY_SECTION',
  '.moz-signature',
  '.gmail_signature',
].join(',')
/** Thunderbird puts the line above a quotation into these, and what somebody writes there as well. */
const PREFIXES = '.moz-cite-prefix'
/** Outlook marks only where the quotation begins. It continues to the end. */
const QUOTE_STARTS = '#divRplyFwdMsg, #appendonsend, #mail-editor-reference-message-container'

const BLOCKS = new Set(
  'P DIV TR LI UL OL TABLE BLOCKQUOTE H1 H2 H3 H4 H5 H6 PRE SECTION ARTICLE HEADER FOOTER ADDRESS HR DL DT DD'.split(
    ' ',
  ),
)
const UNSEEN = new Set('SCRIPT STYLE HEAD TITLE TEMPLATE NOSCRIPT OBJECT SVG'.split(' '))

/** The most tags for which the tree is built; each of them may become a node. */
const MAX_BRACKETS = 120_000

/**
 * Returns the text of an HTML mail with the addresses of its links. Quotations are left out unless
 * `isForward`; in a reply, also those of programs that mark them in a way of their own.
 */
export function htmlText(html: string, { isForward = false, isReply = false } = {}): string {
  // Building the tree of such a mail would take too long.
  if (tooComplex(html) !== null || html.split('<').length > MAX_BRACKETS) return tidy(decode(bareText(html)))
  const { document } = parseHTML(`<html><body>${html}</body></html>`)
  const whole = textIn(document.body)
  if (isForward) return whole
  for (const start of document.querySelectorAll(QUOTE_STARTS)) removeFrom(start)
  const quotes: TreeNode[] = [...document.querySelectorAll(QUOTES)]
  if (isReply)
    quotes.push(...[...document.querySelectorAll('blockquote, [class], [id], [name]')].filter(isMarked))
  const prefixes: TreeNode[] = [...document.querySelectorAll(PREFIXES)]
  quotes.push(...prefixes.filter(({ textContent }) => /[:\uff1a]\s*$/.test(textContent ?? '')))
  const around = ancestorsOf(quotes.filter(({ nodeName }) => nodeName === 'BLOCKQUOTE'))
  for (const quote of quotes) {
    const before = attributionBefore(quote)
    before?.remove()
    // Gmail puts answers that stand between quotations into the same container as the quotations.
    const isContainer = /\bgmail_quote/.test(quote.getAttribute('class') ?? '') && around.has(quote)
    if (!isContainer || quote.nodeName === 'BLOCKQUOTE') quote.remove()
  }
  return textIn(document.body) || whole
}

function ancestorsOf(elements: TreeNode[]): Set<TreeNode> {
  const found = new Set<TreeNode>()
  for (const { parentNode } of elements)
    for (let node = parentNode; node && !found.has(node); node = node.parentNode) found.add(node)
  return found
}

/** Matches the class, id or name that programs give to a quotation. */
const QUOTE_NAME = /quot/i

function isMarked(element: TreeNode): boolean {
  const names = ['class', 'id', 'name'].map((name) => element.getAttribute(name) ?? '').join(' ')
  return QUOTE_NAME.test(names) || (element.nodeName === 'BLOCKQUOTE' && attributionBefore(element) !== null)
}

/** The most empty nodes between a quotation and the line that says whose it is. A sender may write any number of them. */
const MAX_EMPTY = 10

/** Returns the node directly before a quotation that says whose it is. */
function attributionBefore(element: TreeNode): TreeNode | null {
  let node = element.previousSibling
  for (let passed = 0; passed < MAX_EMPTY && (node?.textContent ?? 'x').trim() === ''; passed++)
    node = node?.previousSibling ?? null
  return node && isAttribution(node.textContent ?? '') ? node : null
}

type TreeNode = {
  nodeType: number
  nodeName: string
  textContent: string | null
  childNodes: Iterable<TreeNode>
  parentNode: TreeNode | null
  nextSibling: TreeNode | null
  previousSibling: TreeNode | null
  remove(): void
  getAttribute(name: string): string | null
}

/** Removes the element and everything after it. */
function removeFrom(element: TreeNode): void {
  for (let node: TreeNode | null = element; node && node.nodeName !== 'BODY'; node = node.parentNode) {
    while (node.nextSibling) node.nextSibling.remove()
  }
  element.remove()
}

/** Adjacent blocks are separated by one line break, however many end there, and paragraphs by two. */
const BREAK = '\ue000'
const GAP = '\ue001'
const ANY_SPACE = /[\s\ue000\ue001]+/g

function textIn(root: unknown): string {
  const parts: string[] = []
  // It uses a stack of its own, because the sender controls the depth of the nesting.
  const open: (TreeNode | string)[] = [root as TreeNode]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node === 'string') parts.push(node)
    else if (node.nodeType === 3) parts.push((node.textContent ?? '').replace(ANY_SPACE, ' '))
    else if (node.nodeName === 'BR') parts.push('\n')
    else if (node.nodeType === 1 && !UNSEEN.has(node.nodeName.toUpperCase())) {
      const name = node.nodeName.toUpperCase()
      const edge = name === 'P' ? GAP : BLOCKS.has(name) ? BREAK : name === 'TD' || name === 'TH' ? ' ' : ''
      parts.push(edge, name === 'LI' ? '- ' : '')
      open.push(edge, name === 'A' ? targetOf(node) : '')
      for (const child of [...node.childNodes].reverse()) open.push(child)
    }
  }
  return tidy(parts.join(''))
}

/** Returns the address of a link, unless its text contains it. */
function targetOf(link: TreeNode): string {
  const target = link.getAttribute('href') ?? ''
  const said = (link.textContent ?? '').trim()
  return /^https?:/i.test(target) && target.length <= 2_000 && !said.includes(target) ? ` (${target})` : ''
}

const tidy = (text: string): string => text.replace(ANY_SPACE, spaceFor).trim()

function spaceFor(run: string): string {
  const breaks = run.replace(/[^\n\ue000\ue001]/g, '')
  // A line break that is alone in its block is an empty line.
  if (breaks.includes(GAP) || breaks.includes('\n\n') || breaks.includes(`${BREAK}\n`)) return '\n\n'
  return breaks === '' ? ' ' : '\n'
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

const decode = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|apos|nbsp);/g, (_, name: string) => ENTITIES[name] ?? '')
