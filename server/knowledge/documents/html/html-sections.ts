import type { Section } from '../extracted-document.ts'
import { isQuestion } from '../text/question-sections.ts'
import { headingLabel } from './heading-label.ts'
import { BOLD_LEVEL, type Heading, pathOf, withHeading } from './heading-path.ts'
import type { Anchors } from './html-anchors.ts'
import {
  anchorIn,
  BLOCKS,
  type HtmlElement,
  type HtmlNode,
  hasBlock,
  headingText,
  nameOf,
  SKIPPED,
  spaced,
  textOf,
} from './html-node.ts'
import { isLayout, noteOf, rowsOf } from './html-table.ts'
import { boldTitles, NO_TITLES, summaryOf } from './html-titles.ts'

/** A definition with more characters than this becomes a section under its term. An answer always does. */
const MAX_DEFINITION_LENGTH = 400
/** The level of terms, below every title; the terms of nested lists are below it. */
const TERM_LEVEL = BOLD_LEVEL + 1

/** The attribute of an element that is a page of a document, with its number. */
const PAGE = 'data-page-num'

type Options = {
  anchors?: Anchors
  /** Elements for which it returns true are skipped. */
  isLeftOut?: ((element: HtmlElement) => boolean) | undefined
  /** Returns where a link leads to. Without it, or where it returns null, only the text of a link is kept. */
  addressOf?: (href: string) => string | null
  /** Whether paragraphs that are wholly in bold are titles, if there are several. */
  hasBoldTitles?: boolean
  /** Whether bold text, code and the names of images are kept, as Markdown has them. */
  keepsMarks?: boolean
}

/**
 * Walks a DOM tree and splits it into sections at the headings h1 to h6. Tables become rows, list items and lines of
 * code separate lines, terms precede their definitions, and links in paragraphs and list items are written as Markdown.
 */
export function htmlSections(
  root: HtmlElement,
  { anchors, isLeftOut, addressOf, hasBoldTitles = false, keepsMarks = false }: Options = {},
): Section[] {
  const sections: Section[] = []
  const bold = hasBoldTitles ? boldTitles(root) : NO_TITLES
  let open: Heading[] = []
  /** The headings of the enclosing subsections, which headings inside do not close, whatever their level. */
  let floor: Heading[] = []
  let anchor: string | null = null
  let page: number | null = null
  let paragraphs: string[] = []
  let line = ''
  let label: string | null = null
  let isResumed = false

  const endLine = () => {
    const text = line
      .replace(/[^\S\n]+/g, ' ')
      .replace(/ ?\n ?/g, '\n')
      .trim()
    line = ''
    if (!text) return
    paragraphs.push(label === null ? text : `${label}: ${text}`)
    label = null
  }
  /** A label without a paragraph after it becomes a paragraph of its own. */
  const endLabel = () => {
    endLine()
    if (label !== null) paragraphs.push(`${label}:`)
    label = null
  }
  const endSection = () => {
    endLabel()
    const place = anchor === null ? {} : { anchor }
    // A heading without text is kept, but not a second time after its subsections.
    if (paragraphs.length > 0 || !isResumed)
      sections.push({ headingPath: pathOf(open), page, text: paragraphs.join('\n\n'), ...place })
    paragraphs = []
    isResumed = false
  }
  const startSection = (level: number, text: string) => {
    endSection()
    open = [...floor, ...withHeading(open.slice(floor.length), level, text)]
    anchor = anchors?.next(text) ?? null
  }
  /** Makes a section within the open one, to which what follows belongs again. */
  const subsection = (level: number, title: string, ownAnchor: string | null, fill: () => void) => {
    const before = { open, floor, anchor }
    endSection()
    open = [...floor, ...withHeading(open.slice(floor.length), level, title)]
    floor = open
    anchor = ownAnchor ?? before.anchor
    fill()
    endSection()
    open = before.open
    floor = before.floor
    anchor = before.anchor
    isResumed = true
  }
  const inside = (element: HtmlElement) => {
    for (const child of element.childNodes) visit(child)
  }
  const block = (element: HtmlElement) => {
    endLine()
    inside(element)
    endLine()
  }
  /** Adds what is inside of an element to the line, as `written` writes it. */
  const written = (element: HtmlElement, write: (text: string) => string) => {
    const before = line
    line = ''
    inside(element)
    const text = line.trim()
    const at = line.indexOf(text)
    line = `${before}${line.slice(0, at)}${text === '' ? '' : write(text)}${line.slice(at + text.length)}`
  }
  const linked = (element: HtmlElement) => {
    const address = hasBlock(element) ? null : addressOf?.(element.getAttribute('href') ?? '')
    if (!address) inside(element)
    else written(element, (text) => (tellsAddress(text, address) ? `[${text}](${address})` : text))
  }
  const definitions = (list: HtmlElement, depth: number) => {
    endLabel()
    const short: string[] = []
    const flush = () => {
      if (short.length > 0) paragraphs.push(short.join('\n'))
      short.length = 0
    }
    for (const { terms, bodies } of groupsOf(list)) {
      const names = terms.map(headingText).filter(Boolean)
      const text = bodies.map(textOf).filter(Boolean).join(' ')
      const isApart =
        text.length > MAX_DEFINITION_LENGTH ||
        (names.some(isQuestion) && !isInItem(list)) ||
        bodies.some((body) => body.querySelector('pre, dl, table'))
      if (names.length === 0 || !isApart) {
        if (names.length > 0) anchors?.next(names[0]!)
        short.push([names.join(', '), text].filter(Boolean).join(': '))
        continue
      }
      flush()
      subsection(TERM_LEVEL + depth, names.join(', '), anchors?.next(names.join(', ')) ?? null, () => {
        for (const body of bodies) {
          for (const child of body.childNodes) {
            const inner = child.nodeType === 1 ? (child as HtmlElement) : null
            if (inner && nameOf(inner) === 'DL') definitions(inner, depth + 1)
            else visit(child)
          }
          endLabel()
        }
      })
    }
    flush()
  }
  const visit = (node: HtmlNode): void => {
    if (node.nodeType === 3) {
      line += spaced(node.textContent ?? '')
      return
    }
    if (node.nodeType !== 1) return
    const element = node as HtmlElement
    const name = nameOf(element)
    if (SKIPPED.has(name) || element.hasAttribute('hidden') || isLeftOut?.(element)) return
    if (element.hasAttribute(PAGE)) {
      endSection()
      page = Number(element.getAttribute(PAGE))
      isResumed = true
    }
    const level = /^H([1-6])$/.exec(name)?.[1]
    const summary = name === 'DETAILS' && !isInItem(element) ? summaryOf(element) : null
    if (level) {
      const text = headingText(element)
      if (!text) return
      const found = level === '1' ? null : headingLabel(text)
      endLabel()
      if (found === null) startSection(Number(level), text)
      else label = found
    } else if (bold.has(element)) {
      const title = bold.get(element)!
      const text = headingText(title)
      endLabel()
      label = headingLabel(text)
      if (label === null) startSection(BOLD_LEVEL, text.replace(/\s*[:：]$/u, ''))
      for (const child of element.childNodes) if (child !== title) visit(child)
      endLine()
    } else if (name === 'DL') definitions(element, 0)
    else if (summary !== null) {
      endLabel()
      subsection(TERM_LEVEL, headingText(summary), anchorIn(summary) ?? (element.id || null), () => {
        for (const child of element.childNodes) if (child !== summary) visit(child)
      })
    } else if (name === 'TABLE' && !isLayout(element)) {
      endLabel()
      const note = noteOf(element)
      if (note) {
        label = note.label
        inside(note.body)
        endLabel()
        return
      }
      const caption = element.querySelector('caption')
      if (caption) paragraphs.push(textOf(caption))
      paragraphs.push(rowsOf(element).join('\n'))
    } else if (name === 'PRE') {
      endLabel()
      const code = (element.textContent ?? '').replace(/\n\s*\n/g, '\n').replace(/^\s*\n|\s+$/g, '')
      const language = keepsMarks
        ? (/language-([\w+#-]{1,30})/.exec(element.querySelector('code')?.getAttribute('class') ?? '')?.[1] ??
          '')
        : ''
      if (code) paragraphs.push(`\`\`\`${language}\n${code}\n\`\`\``)
    } else if (name === 'LI') {
      // Items become consecutive lines of one paragraph.
      endLabel()
      const before = paragraphs
      paragraphs = []
      block(element)
      endLabel()
      const item = paragraphs.join('\n')
      paragraphs = before
      if (item) appendItem(paragraphs, `${markOf(element)} ${item}`, element)
    } else if (name === 'BR') line += '\n'
    else if (name === 'TD' || name === 'TH') {
      line += ' '
      inside(element)
    } else if (name === 'A') linked(element)
    else if (keepsMarks && /^(?:STRONG|B)$/.test(name)) written(element, (text) => `**${text}**`)
    else if (keepsMarks && name === 'CODE')
      written(element, (text) => (text.includes('`') ? text : `\`${text}\``))
    else if (keepsMarks && name === 'IMG') line += element.getAttribute('alt') ?? ''
    else if (BLOCKS.has(name)) block(element)
    else inside(element)
  }

  visit(root)
  endSection()
  return sections
}

/** Returns whether an element is in a list item or a cell, which a section would split. */
const isInItem = (element: HtmlElement): boolean => element.closest('li, td, th') !== null

const MAX_LABEL_LENGTH = 300
/** Signs that end a label or turn its direction, and labels that look like an address of their own. */
const UNSAFE = /[[\]\\\u202a-\u202e\u2066-\u2069]|^(?:https?:|www\.)/iu

/** Returns whether a link says more than its text: not one to a footnote, nor one whose text is its address or number. */
function tellsAddress(label: string, address: string): boolean {
  if (label.length > MAX_LABEL_LENGTH || !/\p{L}/u.test(label) || UNSAFE.test(label)) return false
  if (address.startsWith('tel:') && /(?:\d\D{0,3}){5}/.test(label)) return false
  return bare(label) !== bare(address)
}

const bare = (address: string): string =>
  address
    .toLowerCase()
    .replace(/^(?:https?:\/\/|mailto:|tel:)?(?:www\.)?/, '')
    .replace(/\/?(?:[?#].*)?$/, '')

function appendItem(paragraphs: string[], line: string, item: HtmlElement): void {
  const last = paragraphs.at(-1)
  const [first] = item.previousElementSibling ? (item.parentElement?.children ?? []) : []
  const follows = last && first && (/^(?:-|\d+\.) /.test(last) || last.startsWith(`${markOf(first)} `))
  if (follows) paragraphs[paragraphs.length - 1] = `${last}\n${line}`
  else paragraphs.push(line)
}

/** The attribute of an item of a list with its label, as programs for texts number lists: "1.1", "(a)". */
export const MARK = 'data-mark'

/** Ordered items keep their numbers. */
function markOf(item: HtmlElement): string {
  const mark = item.getAttribute(MARK)
  if (mark) return mark
  const list = item.parentElement
  if (!list || nameOf(list) !== 'OL') return '-'
  const first = Number(list.getAttribute('start') ?? 1)
  let number = Number.isInteger(first) ? first : 1
  for (let before = item.previousElementSibling; before; before = before.previousElementSibling)
    if (nameOf(before) === 'LI') number += 1
  return `${number}.`
}

type Definition = { terms: HtmlElement[]; bodies: HtmlElement[] }

/** Returns the definitions of a list, whose groups may be wrapped in a div. */
function groupsOf(list: HtmlElement): Definition[] {
  const groups: Definition[] = []
  const add = (element: HtmlElement): void => {
    const name = nameOf(element)
    const last = groups.at(-1)
    if (name === 'DIV') for (const child of element.children) add(child)
    else if (name === 'DT') {
      if (last && last.bodies.length === 0) last.terms.push(element)
      else groups.push({ terms: [element], bodies: [] })
    } else if (last) last.bodies.push(element)
    else groups.push({ terms: [], bodies: [element] })
  }
  for (const child of list.children) add(child)
  return groups
}
