import type { Section } from '../extracted-document.ts'

// A longer sentence is not joined, because it is more likely a table.
const longestTail = 500

/**
 * When a page ends in the middle of a sentence that continues on the next page under the same heading, moves the rest
 * of the sentence to the page on which it began.
 */
export function mendPageBreaks(sections: Section[]): Section[] {
  const mended = sections.map((section) => ({ ...section }))
  for (const [index, section] of mended.entries()) {
    const next = mended[index + 1]
    if (!next || next.page === section.page || next.headingPath.join('\n') !== section.headingPath.join('\n'))
      continue
    const tail = /^\p{Ll}[^\n]*?[.!?](?=\s|$)/u.exec(next.text)?.[0]
    if (!tail || tail.length > longestTail || !/[\p{L}\p{N},;]$/u.test(section.text)) continue
    section.text += ` ${tail}`
    next.text = next.text.slice(tail.length).trimStart()
  }
  return mended
}
