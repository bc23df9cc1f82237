import { parseHTML } from 'linkedom'
import mammoth from 'mammoth'
import { splitWords } from '../../../platform/text/words/words.ts'
import { ExtractFailure } from '../extract-failure.ts'
import { type ExtractedDocument, finishDocument } from '../extracted-document.ts'
import { gapCounter } from '../gaps.ts'
import { htmlSections, MARK } from '../html/html-sections.ts'
import { countLeftOut, isNotable, type Raw } from '../left-out-words.ts'
import { linkAddress } from '../text/link-address.ts'
import { marginSection } from './docx-margins.ts'
import { officeParts, officeTitle } from './office-parts.ts'
import { named, type Parts, type XmlElement, xmlOf } from './office-xml.ts'
import { LABEL, shownDocx } from './shown-docx.ts'
import { writeZip } from './write-zip.ts'

/**
 * Extracts the headings, paragraphs, lists and tables of a Word file, and what its page headers and footers add to them.
 * Throws ExtractFailure `broken`, `too_large` and `no_text`.
 */
export async function extractDocx(bytes: Uint8Array): Promise<ExtractedDocument> {
  const parts = officeParts(bytes)
  const missing = gapCounter()
  const objects: (string | null)[] = []
  const { document } = parseHTML(
    `<!doctype html><html><body>${await toHtml(writeZip(shownDocx(parts, missing, objects)))}</body></html>`,
  )
  for (const mark of document.querySelectorAll(`a[id^="${LABEL}"]`)) {
    const label = mark.id.slice(LABEL.length)
    const item = mark.closest('li')
    if (item && !item.hasAttribute(MARK)) item.setAttribute(MARK, label)
    else mark.after(`${label} `)
  }
  for (const box of document.querySelectorAll('input[type="checkbox"]'))
    box.replaceWith(document.createTextNode(box.hasAttribute('checked') ? '☒' : '☐'))
  // mammoth puts an empty item around a list that starts at a lower level.
  for (const item of document.querySelectorAll('li')) {
    const list = item.firstElementChild
    if (list?.firstElementChild?.hasAttribute(MARK) && list.textContent === item.textContent)
      item.replaceWith(...list.children)
  }
  const body = htmlSections(document.body, {
    addressOf: (href) => linkAddress(href, null),
    hasBoldTitles: true,
  })
  const margin = marginSection(parts, body)
  const sections = margin && body.some(({ text }) => text !== '') ? [...body, margin] : body
  const extracted = finishDocument(officeTitle(parts), sections)
  if (extracted.sections.length + objects.length === 0)
    throw new ExtractFailure('no_text', 'This Word file contains no text.')
  const raw = rawTexts(parts)
  countLeftOut(missing, raw, extracted.sections)
  const formulas = wordsIn(formulasIn(parts))
  if (isNotable(formulas, wordsIn(raw.map(({ text }) => text)) + formulas))
    missing.add('layout', 'formulas', formulas)
  const title = extracted.title ?? extracted.sections[0]?.headingPath[0] ?? null
  const files = objects.map((part) => ({ part, place: '', page: null, headingPath: [] }))
  return { ...extracted, title, gaps: missing.gaps(''), embedded: { unit: '', files } }
}

const TEXTS = /^word\/(document|footnotes|endnotes|header|footer)\d*\.xml$/

/** Returns the paragraphs of the parts of the file that readers see, and of what is hidden in them. */
const rawTexts = (parts: Parts): Raw[] =>
  [...parts].flatMap(([name, part]) => {
    const place = TEXTS.exec(name)?.[1]
    if (!place) return []
    return named(xmlOf(part), 'w:p').map((paragraph) => ({
      place: PLACES[place] ?? place,
      text: rawText(paragraph),
    }))
  })

const PLACES: Record<string, string> = { document: 'text', header: 'headers', footer: 'footers' }

const formulasIn = (parts: Parts): string[] => {
  const part = parts.get('word/document.xml')
  return part ? named(xmlOf(part), 'm:t').map(({ textContent }) => textContent ?? '') : []
}

const wordsIn = (texts: readonly string[]): number => splitWords(texts.join('\n')).length

/** Returns the text of a paragraph, with the boxes of text in it. */
const rawText = (paragraph: XmlElement): string =>
  named(paragraph, 'w:t', 'w:tab', 'w:br', 'w:cr', 'w:noBreakHyphen', 'w:p')
    .map((run) => {
      if (run.tagName === 'w:p') return `\n${rawText(run)}\n`
      if (run.tagName === 'w:noBreakHyphen') return '-'
      return run.tagName === 'w:t' ? (run.textContent ?? '') : ' '
    })
    .join('')

async function toHtml(bytes: Buffer): Promise<string> {
  try {
    const withoutImages = mammoth.images.imgElement(async () => ({ src: '' }))
    const styleMap = ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => p:fresh"]
    const { value } = await mammoth.convertToHtml(
      { buffer: bytes },
      { convertImage: withoutImages, externalFileAccess: false, styleMap },
    )
    return value
  } catch (error) {
    throw new ExtractFailure(
      'broken',
      'This Word file is damaged. Open it in a word processor, save it again and retry.',
      error,
    )
  }
}
