import { finishDocument, type Section } from '../extracted-document.ts'
import { BLOCKS, type HtmlElement, nameOf, textOf } from './html-node.ts'
import { htmlSections } from './html-sections.ts'

const DATES = /\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}-\d{2}-\d{2}/g
const YEARS = /(?<!\d)(?:19|20)\d{2}(?:\s?[–-]\s?(?:19|20)?\d{2})?(?!\d)/g
const MAIL = /[^\s@]\s?(?:@|[[({]\s?at\s?[\])}])\s?[^\s@]+\.\p{L}{2}/iu
/** Five digits or more: telephone, register and tax numbers, and most postcodes. */
const LONG_NUMBER = /\d(?:[\s()./–-]{0,3}\d){4}/
const POSTCODE = /(?<![\d.,])\d{4}\s(?:[A-Z]{2}\b|\p{Lu}\p{L}+)|\b[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}\b/u
const HOURS =
  /(?<![\d.,])\d{1,2}(?::\d{2}|\s?(?:h\d{0,2}\b|[ap]\.?m\b|uhr\b)|[時点點시]|\s?(?:[–~〜-]|to|bis|à)\s?\d{1,2}(?!\d)|\/7)/iu
const COPYRIGHT = /©|copyright|\(c\)\s*\d{4}|rights reserved|rechte vorbehalten|droits réservés|cookie/i
/** The name in a line such as "© 2026 Lampenhaus GmbH. All rights reserved". */
const OWNER = /(?:©|copyright|\(c\))[\s\d–-]*(?:by\s+)?([^\s\d|·•,–][^|·•,–\n]*)/iu
const NEXT_SENTENCE = /\.\s+\p{Lu}.*$/su
const SEPARATOR = /(?:^|\s+)[|·•](?=\s|$)/
/** The length in characters up to which a text beside contact data is its label or another line of the address. */
const SHORT_TEXT = 80
const FULL_TEXT = 40
const LONGEST_NAME = 60

/** Returns whether a text holds a mail address, a telephone or register number, a postcode or opening hours. */
export function hasContactData(text: string): boolean {
  const plain = text.normalize('NFKC')
  const numbers = plain.replace(DATES, ' ').replace(YEARS, ' ')
  return MAIL.test(plain) || HOURS.test(numbers) || LONG_NUMBER.test(numbers) || POSTCODE.test(numbers)
}

/** Returns whether a link opens a mail program or a telephone. */
export const isContactLink = (link: HtmlElement): boolean =>
  /^(?:tel|mailto|sms|whatsapp):/i.test(link.getAttribute('href') ?? '')

/**
 * Returns the contact data in the headers and footers of a site under their headings and the site's name, without
 * links to pages and copyright notices. A site repeats them on every page.
 */
export function contactSections(frames: readonly HtmlElement[], siteName: string): Section[] {
  return sectionsOf(frames, siteName, contactData).map((section) => ({ ...section, isContact: true }))
}

/** Returns the whole text of the footers of a site in the same way. Those with contact data are marked. */
export function footerSections(footers: readonly HtmlElement[], siteName: string): Section[] {
  return sectionsOf(footers, siteName, (paragraphs) => paragraphs.filter(saysSomething)).map((section) =>
    hasContactData(section.text) ? { ...section, isContact: true } : section,
  )
}

/** Footers also hold lists of names, such as "Imprint | Terms", which may be links that scripts follow. */
const saysSomething = (paragraph: string): boolean =>
  hasContactData(paragraph) ||
  paragraph.split(' | ').some((part) => part.length >= FULL_TEXT || /[.!?。！？]$/.test(part))

function sectionsOf(
  frames: readonly HtmlElement[],
  siteName: string,
  keep: (paragraphs: readonly string[]) => string[],
): Section[] {
  const sections = frames.flatMap((frame) =>
    unitsOf(frame).flatMap((unit) => htmlSections(unit, undefined, isOtherLink)),
  )
  const filled = finishDocument(
    null,
    sections.filter(({ text }) => text !== ''),
  ).sections
  const name = siteName || ownerIn(filled)
  return filled.flatMap(({ headingPath, text }): Section[] => {
    const kept = keep(text.split(/\n{2,}/).map(withoutLegal))
    const path = name && headingPath[0] !== name ? [name, ...headingPath] : headingPath
    return kept.length === 0 ? [] : [{ headingPath: path, page: null, text: kept.join('\n\n') }]
  })
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
  const said = page.map(({ text }) => lettersOf(text))
  return contact.map((section) => {
    const kept = section.text.split('\n\n').filter((paragraph) => {
      const letters = lettersOf(paragraph)
      return !said.some((one) => one.includes(letters))
    })
    said.push(lettersOf(section.text))
    return { ...section, headingPath: kept.length === 0 ? [] : section.headingPath, text: kept.join('\n\n') }
  })
}

/** Keeps the paragraphs with contact data, and short ones next to them: labels and other lines of an address. */
function contactData(paragraphs: readonly string[]): string[] {
  const filled = paragraphs.filter(Boolean)
  if (!filled.some(hasContactData)) return []
  const isData = filled.map((text) => hasContactData(text) || (/\d/.test(text) && text.length <= SHORT_TEXT))
  return filled.filter(
    (text, at) => isData[at] || (text.length <= SHORT_TEXT && (isData[at - 1] || isData[at + 1])),
  )
}

function withoutLegal(paragraph: string): string {
  const lines = paragraph.split('\n').map((line) =>
    line
      .split(SEPARATOR)
      .map((part) => part.trim())
      .filter((part) => part !== '' && part !== '-' && (!COPYRIGHT.test(part) || hasContactData(part)))
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
  return name.length <= LONGEST_NAME && !hasContactData(name) ? name : ''
}

const lettersOf = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')
