import { lettersOnly, visibleText } from '../../../platform/text/words/words.ts'
import { finishDocument, type Section } from '../extracted-document.ts'
import { widthOf } from '../table-rows.ts'
import { hasContactData, hasFigure } from './contact-data.ts'
import { hasSentence, isContactLink, isFooter, isHeader } from './html-frames.ts'
import { BLOCKS, type HtmlElement, nameOf, textOf } from './html-node.ts'
import { htmlSections } from './html-sections.ts'

/** A copyright notice at the end of a line, and the name in it. */
const NOTICE = /\s*[/–—-]?\s*(?:©|copyright|\(c\)\s*\d{4}).*$/i
const OWNER = /(?:©|copyright|\(c\))[\s\d–-]*(?:by\s+)?([^\s\d|·•,–][^|·•,–\n]*)/iu
const NEXT_SENTENCE = /\.\s+\p{Lu}.*$/su
/** Matches a label with its value, such as "Made by: Huber Ltd.". */
const LABELLED = /\p{L}{2}\s?[:：]\s?[\p{L}\p{N}(]/u
const SEPARATOR = /(?:^|\s+)[|·•](?=\s|$)/
/** The length in characters up to which a text beside contact data is its label or another line of the address. */
const SHORT_TEXT = 80
const FULL_TEXT = 40
const MAX_NAME_LENGTH = 60

/**
 * Returns the contact data and facts in the headers and footers of a site, under their headings and the site's name.
 * Links to pages and copyright notices are left out. The sections are marked, because a site repeats them on every page.
 */
export function contactSections(frames: readonly HtmlElement[], siteName: string): Section[] {
  const filled = frames.map((frame) => ({
    said: finishDocument(
      null,
      unitsOf(frame)
        .flatMap((unit) => htmlSections(unit, { isLeftOut: isOtherLink }))
        .filter(({ text }) => text !== ''),
    ).sections,
    // Menus, dialogs and the like have numbers, too, that tell nothing.
    isFact: (text: string): boolean =>
      (isFooter(frame) || isHeader(frame)) &&
      ((text.length <= SHORT_TEXT && hasFigure(text)) ||
        (isFooter(frame) && widthOf(text) >= FULL_TEXT && (hasSentence(text) || LABELLED.test(text)))),
  }))
  const name = siteName || ownerIn(filled.flatMap(({ said }) => said))
  return filled.flatMap(({ said, isFact }) =>
    said.flatMap(({ headingPath, text }): Section[] => {
      const kept = factsIn(text.split(/\n{2,}/).map(withoutNotices), isFact)
      const path = name && headingPath[0] !== name ? [name, ...headingPath] : headingPath
      return kept.length === 0
        ? []
        : [{ headingPath: path, page: null, text: kept.join('\n\n'), isContact: true }]
    }),
  )
}

/** Returns the columns of a footer, each with its headings, so that what follows a column is not under its heading. */
function unitsOf(frame: HtmlElement): HtmlElement[] {
  const children = [...frame.children]
  const isHeading = (element: HtmlElement): boolean => /^h\d$/i.test(element.tagName)
  const hasColumns = children.some((child) => child.querySelector('h1, h2, h3, h4, h5, h6'))
  const isSplit = hasColumns && children.every((child) => BLOCKS.has(nameOf(child)) && !isHeading(child))
  return isSplit ? children.flatMap(unitsOf) : [frame]
}

/** Returns the contact sections without the paragraphs that the page itself or an earlier one of them says. */
export function unsaid(contact: readonly Section[], page: readonly Section[]): Section[] {
  const said = page.map(({ text }) => lettersOnly(visibleText(text)))
  return contact.map((section) => {
    const kept = section.text.split('\n\n').filter((paragraph) => {
      const letters = lettersOnly(paragraph)
      return !said.some((one) => one.includes(letters))
    })
    said.push(lettersOnly(section.text))
    return { ...section, headingPath: kept.length === 0 ? [] : section.headingPath, text: kept.join('\n\n') }
  })
}

/** Returns the paragraphs with contact data, short ones beside them (labels, address lines), and facts. */
function factsIn(paragraphs: readonly string[], isFact: (text: string) => boolean): string[] {
  const filled = paragraphs.filter(Boolean)
  const hasContact = filled.some(hasContactData)
  const isShort = (text: string): boolean => text.length <= SHORT_TEXT
  const isData = filled.map(
    (text) => hasContactData(text) || (hasContact && /\d/.test(text) && isShort(text)),
  )
  return filled.filter((text, at) => {
    const isList = text.includes(' | ') || text.startsWith('- ')
    return isData[at] || isFact(text) || (isShort(text) && !isList && (isData[at - 1] || isData[at + 1]))
  })
}

/** Removes copyright notices, unless they contain contact data, and the dashes between links that are left out. */
function withoutNotices(paragraph: string): string {
  const lines = paragraph.split('\n').map((line) =>
    line
      .split(SEPARATOR)
      .map((part) =>
        (hasContactData(part) ? part : part.replace(NOTICE, '')).trim().replace(/(?:\s+[–-])+$/, ''),
      )
      .filter((part) => part !== '' && part !== '-')
      .join(' | '),
  )
  return lines.filter(Boolean).join('\n')
}

function isOtherLink(element: HtmlElement): boolean {
  const name = nameOf(element)
  if (name === 'FORM' || name === 'LABEL') return true
  return name === 'A' && !isContactLink(element) && !hasContactData(textOf(element))
}

function ownerIn(sections: readonly Section[]): string {
  const found = sections.map(({ text }) => OWNER.exec(text)?.[1]).find(Boolean) ?? ''
  const name = found.replace(NEXT_SENTENCE, '').trim()
  return name.length <= MAX_NAME_LENGTH && !hasContactData(name) ? name : ''
}
