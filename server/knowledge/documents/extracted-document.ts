import type { Gap } from '../../platform/db/tables/knowledge.ts'
import { withQuestions } from './text/question-sections.ts'
import { characterUnifier } from './text/unify-characters.ts'

export type DocumentType = 'pdf' | 'docx' | 'doc' | 'xlsx' | 'pptx' | 'txt' | 'md' | 'html' | 'csv' | 'image'

/**
 * The text under one heading, and on one page if the document has pages. Paragraphs are separated by an empty line.
 * A prose paragraph is one line; list items, table rows and code lines are lines within their paragraph.
 */
export type Section = {
  /** Outermost heading first; [] before the first heading. */
  headingPath: string[]
  /** From 1; null where the format has no pages. */
  page: number | null
  text: string
  /** The id of its heading on a web page. */
  anchor?: string
  /** It holds the contact data in the header or footer of a website, which are the same on every page. */
  isContact?: true
}

export type ExtractedDocument = {
  title: string | null
  sections: Section[]
  /** UTF-8 size of all section texts. */
  bytes: number
  /** The charset in which it was read, if it is text. */
  charset?: string
  /** What is missing, unless nothing is. */
  gaps?: Gap[]
  /** The files within an office file, until they are read; `unit` is what their places are called. */
  embedded?: { unit: string; files: Embedded[] }
  /** The hashes of the blocks of a web page outside its main part, by which those that a site repeats are recognised. */
  blocks?: string[]
}

/** A file within an office file: its part, which is null if it is elsewhere, and where it stands. */
export type Embedded = { part: string | null; place: string; page: number | null; headingPath: string[] }

export type DocumentInput = {
  bytes: Uint8Array
  type: DocumentType
  filename?: string | undefined
  /** The URL of a page, for its links. */
  url?: string | undefined
  /** The whole Content-Type header, for its charset. */
  contentType?: string | undefined
  /** Whether nothing of a web page is left out. */
  wholePage?: boolean | undefined
  /** The blocks of a web page that are left out because its site repeats them. */
  repeated?: readonly string[] | undefined
  /** The charset that its owner chose. */
  charset?: string | undefined
}

/**
 * Joins adjacent sections with the same heading and page, drops empty ones, divides lists of questions, unifies characters
 * and counts the bytes. A heading without text becomes its own text.
 */
export function finishDocument(title: string | null, sections: Section[]): ExtractedDocument {
  const kept: Section[] = []
  const all = withQuestions(sections)
  for (const [index, section] of all.entries()) {
    const key = keyOf(section.headingPath)
    const isParent = keyOf(all[index + 1]?.headingPath ?? []).startsWith(key)
    const text = section.text.trim() || (isParent ? '' : (section.headingPath.at(-1) ?? ''))
    const last = kept.at(-1)
    if (text === '') continue
    const isSame = last?.page === section.page && last.isContact === section.isContact
    if (last && isSame && keyOf(last.headingPath) === key) last.text += `\n\n${text}`
    else kept.push({ ...section, text })
  }
  const unify = characterUnifier(kept.map(({ text }) => text).join('\n'))
  const unified = kept.map((section) => ({
    ...section,
    headingPath: section.headingPath.map(unify),
    text: unify(section.text),
  }))
  const bytes = unified.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  return {
    title:
      unify(title ?? '')
        .replace(/\s+/g, ' ')
        .trim() || null,
    sections: unified,
    bytes,
  }
}

function keyOf(headingPath: string[]): string {
  return headingPath.map((heading) => `${heading}\n`).join('')
}
