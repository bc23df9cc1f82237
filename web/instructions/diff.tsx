import classes from './diff.module.css'

type Line = { kind: 'kept' | 'added' | 'removed'; text: string }

/** If either text has more lines than this, the old one is shown as removed and the new one as added. */
const MAX_LINES = 1_000

const linesOf = (text: string): string[] => (text === '' ? [] : text.split('\n'))

/** Returns a minimal line diff of two texts. */
function diffLines(before: string, after: string): Line[] {
  const [a, b] = [linesOf(before), linesOf(after)]
  if (a.length > MAX_LINES || b.length > MAX_LINES) {
    return [
      ...a.map((text): Line => ({ kind: 'removed', text })),
      ...b.map((text): Line => ({ kind: 'added', text })),
    ]
  }
  const width = b.length + 1
  const common = new Uint16Array((a.length + 1) * width)
  const at = (i: number, j: number): number => common[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: 'kept', text: a[i] ?? '' })
      i += 1
      j += 1
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: 'removed', text: a[i++] ?? '' })
    } else lines.push({ kind: 'added', text: b[j++] ?? '' })
  }
  return lines
}

const MARKS = { kept: ' ', added: '+', removed: '−' }

export const Diff = ({ before, after }: { before: string; after: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
  <pre className={classes.diff} tabIndex={0}>
    {diffLines(before, after).map(({ kind, text }, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: lines of a text have no other key
      <span key={at} className={classes[kind]}>
        <i aria-hidden>{MARKS[kind]}</i>
        {kind !== 'kept' && <span className="visually-hidden">{kind}: </span>}
        {text}
        {'\n'}
      </span>
    ))}
  </pre>
)
