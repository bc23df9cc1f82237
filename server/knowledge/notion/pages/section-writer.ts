import type { Section } from '../../documents/extracted-document.ts'
import { type Heading, pathOf, withHeading } from '../../documents/html/heading-path.ts'

/** Collects text in reading order under its headings. */
export type SectionWriter = {
  heading(level: number, text: string): void
  /** Runs `inside` under a heading below all open ones. */
  under(text: string, inside: () => Promise<void>): Promise<void>
  paragraph(text: string): void
  /** Adds a line to the current list, table or code block, or begins one. */
  line(text: string): void
  /** The next line begins a new paragraph. */
  endParagraph(): void
  /** The number of characters so far. */
  length(): number
  finish(): Section[]
}

export function createSectionWriter(): SectionWriter {
  const sections: Section[] = []
  // The level below which the headings of a toggle are.
  let base: string[] = []
  let open: Heading[] = []
  let paragraphs: string[] = []
  let lines: string[] = []
  // The heading has no text yet, so an empty section keeps it.
  let isNew = true
  let chars = 0

  const endParagraph = (): void => {
    if (lines.length > 0) paragraphs.push(lines.join('\n'))
    lines = []
  }
  const endSection = (): void => {
    endParagraph()
    if (paragraphs.length === 0 && !isNew) return
    isNew = false
    sections.push({ headingPath: [...base, ...pathOf(open)], page: null, text: paragraphs.join('\n\n') })
    paragraphs = []
  }
  const line = (text: string): void => {
    const tidy = text.replace(/[^\S\n]+/g, ' ').trim()
    if (tidy === '') return
    lines.push(tidy)
    chars += tidy.length
  }

  return {
    heading(level, text) {
      const tidy = text.replace(/\s+/g, ' ').trim()
      if (tidy === '') return
      endSection()
      open = withHeading(open, level, tidy)
      isNew = true
      chars += tidy.length
    },
    async under(text, inside) {
      const before = { base, open }
      endSection()
      base = [...base, ...pathOf(open), text.replace(/\s+/g, ' ').trim()]
      open = []
      isNew = true
      chars += text.length
      await inside()
      endSection()
      base = before.base
      open = before.open
    },
    paragraph(text) {
      endParagraph()
      line(text)
      endParagraph()
    },
    line,
    endParagraph,
    length: () => chars,
    finish() {
      endSection()
      return sections
    },
  }
}
