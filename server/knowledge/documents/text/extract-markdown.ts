import { parseHTML } from 'linkedom'
import MarkdownIt from 'markdown-it'
import { ExtractFailure } from '../extract-failure.ts'
import { type ExtractedDocument, finishDocument } from '../extracted-document.ts'
import { htmlSections } from '../html/html-sections.ts'
import { DENSE_ITEM } from './dense-lines.ts'
import { linkAddress } from './link-address.ts'

const parser = new MarkdownIt({ html: true })
// Links are checked when they are written. Otherwise the Markdown of refused ones would be shown.
parser.validateLink = () => true

/** Matches the notations for notes and warnings: `> [!NOTE]`, `!!! note "Title"`, `:::note Title`. */
const ADMONITION =
  /^(?:[^\S\n]*>[^\S\n]*\[!([a-z]+)\]|(?:!!!|\?\?\?\+?)[^\S\n]+([a-z]+)(?:[^\S\n]+"([^"\n]*)")?|:::+[^\S\n]*\{?([a-z]+)\}?(?:[^\S\n]+(.*))?)[^\S\n]*\n+[^\S\n]*>?[^\S\n]*/gim
/** Ends of such notes, and directives without a label, which stand for content that is generated with the page. */
const MARKS = /^[^\S\n]*(?::::+|::[a-z][\w-]*\{[^{}\n]*\})[^\S\n]*$/gim
/** A line in bold is a title, even above text of its paragraph. */
const BOLD_LINE = /^(?:\*\*|__)[^*_\n]{1,79}(?:\*\*|__)[:：]?$(?=\n\S)/gmu
const FENCE = /^[^\S\n]*(?:```|~~~)/m

/**
 * Splits Markdown into sections by heading. Of the syntax, only code, bold text and links that lead somewhere are kept;
 * `url` is the address of the document. Throws ExtractFailure `no_text`.
 */
export function extractMarkdown(source: string, url: string | null = null): ExtractedDocument {
  const { title, body } = frontMatter(source)
  const html = parser.render(withoutNotation(body))
  const { document } = parseHTML(`<!doctype html><html><body>${html}</body></html>`)
  const sections = htmlSections(document.body, {
    addressOf: (href) => linkAddress(href, url),
    hasBoldTitles: true,
    keepsMarks: true,
  })
  const first = sections.find(({ headingPath }) => headingPath.length > 0)?.headingPath[0] ?? null
  const found = finishDocument(title ?? first, sections)
  if (found.sections.length === 0) throw new ExtractFailure('no_text', 'This file contains no text.')
  return found
}

/** Writes notes as their label and text, and removes what is not Markdown outside of code. */
function withoutNotation(body: string): string {
  const note = (_all: string, ...words: (string | undefined)[]): string => {
    const label = words[2] || words[4] || words[0] || words[1] || words[3] || ''
    return `\n\n${label[0]!.toUpperCase()}${label.slice(1).toLowerCase()}: `
  }
  const parts = body.split(/^([^\S\n]*(?:```+|~~~+)[\s\S]*?^[^\S\n]*(?:```+|~~~+)[^\S\n]*$)/m)
  return parts
    .map((part) =>
      FENCE.test(part)
        ? part
        : part
            .replace(ADMONITION, note)
            .replace(MARKS, '')
            .replace(/^(\s*[-*+] )\[[ xX]\] /gm, '$1')
            .replace(BOLD_LINE, '$&  ')
            .replace(/\n(?=(.*))/g, (end, line: string) => (DENSE_ITEM.test(line) ? '  \n' : end)),
    )
    .join('')
}

function frontMatter(source: string): { title: string | null; body: string } {
  const found = /^---\n([\s\S]*?)\n(?:---|\.\.\.)\s*(?:\n|$)/.exec(source)
  if (!found) return { title: null, body: source }
  const title = /^title:\s*(.+)$/m
    .exec(found[1]!)?.[1]
    ?.trim()
    .replace(/^(["'])(.*)\1$/, '$2')
  return { title: title ?? null, body: source.slice(found[0].length) }
}
