import type { Section } from '../extracted-document.ts'
import { isQuestion } from '../text/question-sections.ts'
import { raisedDigits } from '../text/raised-digits.ts'
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
  isElement,
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
export function htmlSections(root: HtmlElement, options: Options = {}): Section[] {
  const walk = new Walk(options.hasBoldTitles ? boldTitles(root) : NO_TITLES, options)
  walk.visit(root)
  walk.endSection()
  return walk.sections
}

class Walk {
  readonly sections: Section[] = []
  readonly #bold: ReadonlyMap<HtmlElement, HtmlElement>
  readonly #options: Options
  #open: Heading[] = []
  /** The headings of the enclosing subsections, which headings inside do not close, whatever their level. */
  #floor: Heading[] = []
  #anchor: string | null = null
  #page: number | null = null
  #paragraphs: string[] = []
  #line = ''
  #label: string | null = null
  #isResumed = false

  constructor(bold: ReadonlyMap<HtmlElement, HtmlElement>, options: Options) {
    this.#bold = bold
    this.#options = options
  }

  #endLine(): void {
    const text = this.#line
      .replace(/[^\S\n]+/g, ' ')
      .replace(/ ?\n ?/g, '\n')
      .trim()
    this.#line = ''
    if (!text) return
    this.#paragraphs.push(this.#label === null ? text : `${this.#label}: ${text}`)
    this.#label = null
  }

  /** A label without a paragraph after it becomes a paragraph of its own. */
  #endLabel(): void {
    this.#endLine()
    if (this.#label !== null) this.#paragraphs.push(`${this.#label}:`)
    this.#label = null
  }

  endSection(): void {
    this.#endLabel()
    const place = this.#anchor === null ? {} : { anchor: this.#anchor }
    // A heading without text is kept, but not a second time after its subsections.
    if (this.#paragraphs.length > 0 || !this.#isResumed)
      this.sections.push({
        headingPath: pathOf(this.#open),
        page: this.#page,
        text: this.#paragraphs.join('\n\n'),
        ...place,
      })
    this.#paragraphs = []
    this.#isResumed = false
  }

  #startSection(level: number, text: string): void {
    this.endSection()
    this.#open = [...this.#floor, ...withHeading(this.#open.slice(this.#floor.length), level, text)]
    this.#anchor = this.#options.anchors?.next(text) ?? null
  }

  /** Makes a section within the open one, to which what follows belongs again. */
  #subsection(level: number, title: string, ownAnchor: string | null, fill: () => void): void {
    const before = { open: this.#open, floor: this.#floor, anchor: this.#anchor }
    this.endSection()
    this.#open = [...this.#floor, ...withHeading(this.#open.slice(this.#floor.length), level, title)]
    this.#floor = this.#open
    this.#anchor = ownAnchor ?? before.anchor
    fill()
    this.endSection()
    this.#open = before.open
    this.#floor = before.floor
    this.#anchor = before.anchor
    this.#isResumed = true
  }

  #inside(element: HtmlElement): void {
    for (const child of element.childNodes) this.visit(child)
  }

  #block(element: HtmlElement): void {
    this.#endLine()
    this.#inside(element)
    this.#endLine()
  }

  /** Adds what is inside of an element to the line, as `written` writes it. */
  #written(element: HtmlElement, write: (text: string) => string): void {
    const before = this.#line
    this.#line = ''
    this.#inside(element)
    const text = this.#line.trim()
    const at = this.#line.indexOf(text)
    this.#line = `${before}${this.#line.slice(0, at)}${text === '' ? '' : write(text)}${this.#line.slice(at + text.length)}`
  }

  #linked(element: HtmlElement): void {
    const address = hasBlock(element) ? null : this.#options.addressOf?.(element.getAttribute('href') ?? '')
    if (!address) this.#inside(element)
    else this.#written(element, (text) => (tellsAddress(text, address) ? `[${text}](${address})` : text))
  }

  #definitions(list: HtmlElement, depth: number): void {
    this.#endLabel()
    const short: string[] = []
    const flush = () => {
      if (short.length > 0) this.#paragraphs.push(short.join('\n'))
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
        const [first] = names
        if (first) this.#options.anchors?.next(first)
        short.push([names.join(', '), text].filter(Boolean).join(': '))
        continue
      }
      flush()
      this.#subsection(
        TERM_LEVEL + depth,
        names.join(', '),
        this.#options.anchors?.next(names.join(', ')) ?? null,
        () => {
          for (const body of bodies) {
            for (const child of body.childNodes) {
              if (isElement(child) && nameOf(child) === 'DL') this.#definitions(child, depth + 1)
              else this.visit(child)
            }
            this.#endLabel()
          }
        },
      )
    }
    flush()
  }

  #code(element: HtmlElement): void {
    this.#endLabel()
    const code = (element.textContent ?? '').replace(/\n\s*\n/g, '\n').replace(/^\s*\n|\s+$/g, '')
    const language = this.#options.keepsMarks
      ? (/language-([\w+#-]{1,30})/.exec(element.querySelector('code')?.getAttribute('class') ?? '')?.[1] ??
        '')
      : ''
    if (code) this.#paragraphs.push(`\`\`\`${language}\n${code}\n\`\`\``)
  }

  visit(node: HtmlNode): void {
    if (node.nodeType === 3) {
      this.#line += spaced(node.textContent ?? '')
      return
    }
    if (!isElement(node)) return
    const element = node
    const name = nameOf(element)
    if (SKIPPED.has(name) || isHidden(element) || this.#options.isLeftOut?.(element)) return
    if (element.hasAttribute(PAGE)) {
      this.endSection()
      this.#page = Number(element.getAttribute(PAGE))
      this.#isResumed = true
    }
    const title = this.#bold.get(element)
    const level = /^H([1-6])$/.exec(name)?.[1]
    const summary = name === 'DETAILS' && !isInItem(element) ? summaryOf(element) : null
    if (level) {
      const text = headingText(element)
      if (!text) return
      const found = level === '1' ? null : headingLabel(text)
      this.#endLabel()
      if (found === null) this.#startSection(Number(level), text)
      else this.#label = found
    } else if (title) {
      const text = headingText(title)
      this.#endLabel()
      this.#label = headingLabel(text)
      if (this.#label === null) this.#startSection(BOLD_LEVEL, text.replace(/\s*[:：]$/u, ''))
      for (const child of element.childNodes) if (child !== title) this.visit(child)
      this.#endLine()
    } else if (name === 'DL') this.#definitions(element, 0)
    else if (summary !== null) {
      this.#endLabel()
      this.#subsection(TERM_LEVEL, headingText(summary), anchorIn(summary) ?? (element.id || null), () => {
        for (const child of element.childNodes) if (child !== summary) this.visit(child)
      })
    } else if (name === 'TABLE' && !isLayout(element)) {
      this.#endLabel()
      const note = noteOf(element)
      if (note) {
        this.#label = note.label
        this.#inside(note.body)
        this.#endLabel()
        return
      }
      const caption = element.querySelector('caption')
      if (caption) this.#paragraphs.push(textOf(caption))
      this.#paragraphs.push(rowsOf(element).join('\n'))
    } else if (name === 'PRE') this.#code(element)
    else if (name === 'LI') {
      // Items become consecutive lines of one paragraph.
      this.#endLabel()
      const before = this.#paragraphs
      this.#paragraphs = []
      this.#block(element)
      this.#endLabel()
      const item = this.#paragraphs.join('\n')
      this.#paragraphs = before
      if (item) appendItem(this.#paragraphs, `${markOf(element)} ${item}`, element)
    } else if (name === 'BR') this.#line += '\n'
    else if (name === 'TD' || name === 'TH') {
      this.#line += ' '
      this.#inside(element)
    } else if (name === 'A') this.#linked(element)
    else if (name === 'SUP') this.#written(element, raisedDigits)
    else if (this.#options.keepsMarks && /^(?:STRONG|B)$/.test(name))
      this.#written(element, (text) => `**${text}**`)
    else if (this.#options.keepsMarks && name === 'CODE')
      this.#written(element, (text) => (text.includes('`') ? text : `\`${text}\``))
    else if (this.#options.keepsMarks && name === 'IMG') this.#line += element.getAttribute('alt') ?? ''
    else if (BLOCKS.has(name)) this.#block(element)
    else this.#inside(element)
  }
}

/** What is hidden until a search finds it belongs to the page. */
const isHidden = (element: HtmlElement): boolean =>
  element.hasAttribute('hidden') && element.getAttribute('hidden') !== 'until-found'

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
