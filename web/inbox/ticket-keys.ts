/** The keys of an open ticket, which the help shows before one is open. */
const KEYS = { r: 'Reply', n: 'Write a note', a: 'Assign', e: 'Solve, or open again' }

/** Returns the shortcuts with these keys, each with what it does in the open ticket; without `runs`, all of them. */
export const ticketKeys = (runs?: { [Key in keyof typeof KEYS]?: () => void }) =>
  (Object.keys(KEYS) as (keyof typeof KEYS)[])
    .filter((keys) => !runs || runs[keys])
    .map((keys) => ({ keys, does: KEYS[keys], group: 'Open ticket', run: runs?.[keys] }))
