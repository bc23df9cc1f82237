type Heading = { level: number; text: string }

// Every chunk below a heading repeats it.
const LONGEST_HEADING = 500

/** The open headings after one more: it closes every heading of its own level or deeper. Level 1 is outermost. */
export function withHeading(open: readonly Heading[], level: number, text: string): Heading[] {
  return [...open.filter((heading) => heading.level < level), { level, text: text.slice(0, LONGEST_HEADING) }]
}

export function pathOf(open: readonly Heading[]): string[] {
  return open.map(({ text }) => text)
}

export type { Heading }
