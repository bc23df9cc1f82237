import { visibleText } from '../../../text/words/visible-text.ts'
import { lettersOnly } from '../../../text/words/words.ts'
import { finishDocument, type Section } from '../extracted-document.ts'
import { widthOf } from '../table-rows.ts'
import { hasContactData, hasFigure } from './contact-data.ts'
import { BLOCKS, type HtmlElement, nameOf, textOf } from './html-node.ts'
import { htmlSections } from './html-sections.ts'
import { hasSentence, isFooter, isHeader, isNewsletter, isSidebar } from './html-surroundings.ts'

const COPYRIGHT = /©|copyright|\(c\)\s*\d{4}|rights reserved|rechte vorbehalten|droits réservés|cookie/i
/** A copyright notice at the end of a line. */
const NOTICE = /\s*[/–—-]?\s*(?:©|copyright|\(c\)).*$/i
/** The name in a line such as "© 2026 Lampenhaus GmbH. All rights reserved". */
const OWNER = /(?:©|copyright|\(c\))[\s\d–-]*(?:by\s+)?([^\s\d|·•,–][^|·•,–\n]*)/iu
const NEXT_SENTENCE = /\.\s+\p{Lu}.*$/su
const SEPARATOR = /(?:^|\s+)[|·•](?=\s|$)/
/** The length in characters up to which a text beside contact data is its label or another line of the address. */
const SHORT_TEXT = 80
const FULL_TEXT = 40
const TAGLINE = 24
const LONGEST_NAME = 60

/** Returns whether a link opens a mail program or a telephone. */
export const isContactLink = (link: HtmlElement): boolean =>
  /^(?:tel|mailto|sms|whatsapp):/i.test(link.getAttribute('href') ?? '')

/**
 * Returns the contact data and facts in the headers and footers of a site, under their headings and the site's name.
 * Links to pages and copyright notices are left out. The sections are marked, because a site repeats them on every page.
 */
export function contactSections(frames: readonly HtmlElement[], siteName: string): Section[] {
  return sectionsOf(frames, siteName, keptOf).map((section) => ({ ...section, isContact: true }))
}

/** Returns the whole text of the footers of a site in the same way. Those with contact data are marked. */
export function footerSections(footers: readonly HtmlElement[], siteName: string): Section[] {
  const keep: Keep = (paragraphs) => paragraphs.filter(saysSomething)
  return sectionsOf(footers, siteName, () => keep).map((section) =>
    hasContactData(section.text) ? { ...section, isContact: true } : section,
  )
}

/** Returns which of the paragraphs of a section are kept. */
type Keep = (paragraphs: readonly string[]) => string[]

/**
 * Returns what is kept of a frame: of headers and footers also short lines with a number, such as an address without
 * a postcode, of headers the line that says what the company does, of footers sentences and labelled facts, and of
 * sidebars and newsletters offers. Menus, dialogs and the like have numbers, too, that tell nothing.
 */
function keptOf(frame: HtmlElement): Keep {
  const isShortFigure = (text: string): boolean => text.length <= SHORT_TEXT && hasFigure(text)
  if (isFooter(frame)) return factsIn((text) => isShortFigure(text) || isStatement(text))
  if (isHeader(frame)) return factsIn((text) => isShortFigure(text) || isTagline(text))
  if (isSidebar(frame) || isNewsletter(frame)) return factsIn((text) => hasFigure(text) && hasSentence(text))
  return factsIn(() => false)
}

/** Matches a label with its value, such as "Made by: Huber Ltd.". */
const LABELLED = /\p{L}{2}\s?[:：]\s?[\p{L}\p{N}(]/u
const SOCIAL = /facebook|instagram|tiktok|youtube|linkedin|whatsapp/i

const isStatement = (text: string): boolean =>
  widthOf(text) >= FULL_TEXT && (hasSentence(text) || (LABELLED.test(text) && !SOCIAL.test(text)))

/** Returns whether a text of a header describes the company; names, breadcrumbs and the total of a cart do not. */
const isTagline = (text: string): boolean =>
  widthOf(text) >= TAGLINE && text.length <= SHORT_TEXT && !/[|›»>→]|(?<!\d)\d{1,3}(?!\d)/.test(text)

/** Returns whether a text is part of a list, such as names of pages. Labels and address lines are not. */
const isList = (text: string): boolean => text.includes(' | ') || /^- /.test(text)

/** Footers also hold lists of names, such as "Imprint | Terms", which may be links that scripts follow. */
const saysSomething = (paragraph: string): boolean =>
  hasContactData(paragraph) ||
  hasFigure(paragraph) ||
  paragraph.split(' | ').some((part) => part.length >= FULL_TEXT || /[.!?。！？]$/.test(part))

function sectionsOf(
  frames: readonly HtmlElement[],
  siteName: string,
  keepOf: (frame: HtmlElement) => Keep,
): Section[] {
  const filled = frames.map((frame) => {
    const sections = unitsOf(frame).flatMap((unit) => htmlSections(unit, { isLeftOut: isOtherLink }))
    const said = finishDocument(
      null,
      sections.filter(({ text }) => text !== ''),
    ).sections
    return { said, keep: keepOf(frame) }
  })
  const name = siteName || ownerIn(filled.flatMap(({ said }) => said))
  return filled.flatMap(({ said, keep }) =>
    said.flatMap(({ headingPath, text }): Section[] => {
      const kept = keep(text.split(/\n{2,}/).map(withoutLegal))
      const path = name && headingPath[0] !== name ? [name, ...headingPath] : headingPath
      return kept.length === 0 ? [] : [{ headingPath: path, page: null, text: kept.join('\n\n') }]
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

/** Returns a filter that keeps paragraphs with contact data, short ones beside them (labels, address lines), and facts. */
function factsIn(isFact: (text: string) => boolean): Keep {
  return (paragraphs) => {
    const filled = paragraphs.filter(Boolean)
    const hasContact = filled.some(hasContactData)
    const isShort = (text: string): boolean => text.length <= SHORT_TEXT
    const isData = filled.map(
      (text) => hasContactData(text) || (hasContact && /\d/.test(text) && isShort(text)),
    )
    return filled.filter((text, at) => {
      const isBeside = isShort(text) && !isList(text) && (isData[at - 1] || isData[at + 1])
      return isData[at] || isBeside || isFact(text)
    })
  }
}

function withoutLegal(paragraph: string): string {
  const lines = paragraph.split('\n').map((line) =>
    line
      .split(SEPARATOR)
      // Links that are left out leave the dashes between them.
      .map((part) => withoutNotice(part.trim()).replace(/(?:\s+[–-])+$/, ''))
      .filter((part) => part !== '' && part !== '-')
      .join(' | '),
  )
  return lines.filter(Boolean).join('\n')
}

/** Removes a copyright notice, unless it contains contact data, and keeps the sentences before it. */
function withoutNotice(part: string): string {
  if (!COPYRIGHT.test(part) || hasContactData(part)) return part
  const before = part.replace(NOTICE, '')
  return hasSentence(before) && !COPYRIGHT.test(before) ? before : ''
}

function isOtherLink(element: HtmlElement): boolean {
  const name = nameOf(element)
  if (name === 'FORM' || name === 'LABEL') return true
  return name === 'A' && !isContactLink(element) && !hasContactData(textOf(element))
}

function ownerIn(sections: readonly Section[]): string {
  const found = sections.map(({ text }) => OWNER.exec(text)?.[1]).find(Boolean) ?? ''
  const name = found.replace(NEXT_SENTENCE, '').trim()
  return name.length <= LONGEST_NAME && !hasContactData(name) ? name : ''
}
