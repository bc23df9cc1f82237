/** A piece of a paragraph; `run` for signs that may mark what lies between two of them. */
export type Piece = {
  html: string
  run?: { sign: string; length: number; opens: boolean; closes: boolean }
}

const TAGS: Record<string, [string, string]> = {
  '*': ['em', 'strong'],
  _: ['em', 'strong'],
  '~': ['del', 'del'],
}

/**
 * Pairs runs of `*`, `_` and `~~` (CommonMark 0.31, appendix A, without its rule of three) and joins the pieces. What
 * finds no partner stays as it was written.
 */
export function emphasise(pieces: Piece[]): string {
  const before = pieces.map(() => '')
  const after = pieces.map(() => '')
  const left = pieces.map(({ run }) => run?.length ?? 0)
  const openers: number[] = []
  pieces.forEach(({ run }, at) => {
    if (!run) return
    while (run.closes && (left[at] ?? 0) > 0) {
      const place = openers.findLastIndex((opener) => isPartner(pieces[opener]?.run, run, left[opener] ?? 0))
      if (place === -1) break
      const opener = openers[place] ?? 0
      // What stands between the two and has no partner will never have one.
      openers.length = place + 1
      const size = Math.min(2, left[opener] ?? 0, left[at] ?? 0)
      const tag = TAGS[run.sign]?.[size - 1] ?? 'em'
      before[opener] = `<${tag}>${before[opener]}`
      after[at] += `</${tag}>`
      left[opener] = (left[opener] ?? 0) - size
      left[at] = (left[at] ?? 0) - size
      if (left[opener] === 0) openers.pop()
    }
    if (run.opens && (left[at] ?? 0) > 0) openers.push(at)
  })
  return pieces
    .map(({ html, run }, at) =>
      run ? joined(run.sign, left[at] ?? 0, before[at] ?? '', after[at] ?? '') : html,
    )
    .join('')
}

const joined = (sign: string, rest: number, before: string, after: string): string =>
  after + sign.repeat(rest) + before

type Run = NonNullable<Piece['run']>

const isPartner = (opener: Run | undefined, closer: Run, left: number): boolean =>
  opener !== undefined &&
  left > 0 &&
  opener.sign === closer.sign &&
  (closer.sign !== '~' || opener.length === closer.length)
