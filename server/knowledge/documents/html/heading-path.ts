type Heading = { level: number; text: string }

// The limit of a heading's length, since every chunk below it repeats it.
const MAX_HEADING_LENGTH = 500

/**
 * Returns the open headings after another one, which closes every heading of its own level or deeper. Level 1 is the
 * outermost.
 */
export function withHeading(open: readonly Heading[], level: number, text: string): Heading[] {
  return [
    ...open.filter((heading) => heading.level < level),
    { level, text: text.slice(0, MAX_HEADING_LENGTH) },
  ]
}

export function pathOf(open: readonly Heading[]): string[] {
  return open.map(({ text }) => text)
}

export type { Heading }

/** The heading level of titles that are only set in bold. It is below every marked heading. */
export const BOLD_LEVEL = 7
/** A document needs at least this many bold lines for them to count as titles. */
export const MIN_BOLD_TITLES = 2
