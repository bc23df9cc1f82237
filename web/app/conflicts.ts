import { ParleyError } from '../../client/parley-error.ts'
import { createStore } from '../ui/store.ts'

/** What somebody else has changed while the user wrote: each field as it is now, and as the user would have it. */
export type Conflict = {
  changedBy: string | undefined
  changedAt: string | undefined
  fields: { name: string; theirs: unknown; mine: unknown }[]
}
type Choice = 'mine' | 'theirs' | 'later'

const open = createStore<{ conflict: Conflict; choose: (choice: Choice) => void } | null>(null)

/** The question that is open, or null. */
export const useConflict = open.use

function askAbout(conflict: Conflict): Promise<Choice> {
  return new Promise((resolve) =>
    open.set({
      conflict,
      choose(choice) {
        open.set(null)
        resolve(choice)
      },
    }),
  )
}

/** Thrown when nothing was saved, because somebody else has changed the same object in the meantime. */
export class StillOpen extends Error {
  constructor(changedBy: string | undefined, todo: string) {
    super(`${changedBy ?? 'Somebody'} has changed this in the meantime. ${todo}`)
  }
}

type Fields = Record<string, unknown>

type SaveOptions<B extends object, C extends object> = {
  /** The object in the version that the user has seen. */
  base: B & { etag?: string }
  /** Returns the fields of the object that `change` is about. */
  fieldsOf: (object: B) => object
  change: C
  /** Sends all of the change or the part of it that differs from what the user has seen. */
  send: (change: C, headers: Record<string, string>) => Promise<unknown>
}

/**
 * Saves the fields that the user has changed. If somebody else has changed the same fields in the meantime, the user
 * sees the differences and chooses. Returns whose version is stored now.
 */
export async function saveVersion<B extends object, C extends object>(
  options: SaveOptions<B, C>,
): Promise<'mine' | 'theirs'> {
  const { base, fieldsOf, change, send } = options
  const before = fieldsOf(base) as Fields
  const mine = Object.fromEntries(
    Object.entries(change).filter(([name, value]) => !isEqual(value, before[name])),
  )
  const body = Object.keys(mine).length > 0 ? (mine as C) : change
  for (let seen = before, { etag } = base; ; ) {
    try {
      await send(body, etag === undefined ? {} : { 'if-match': etag })
      return 'mine'
    } catch (error) {
      const changed = error instanceof ParleyError ? error.changed : undefined
      if (!changed) throw error
      const { current, changedBy, changedAt } = changed
      // A server in between may refuse the change as well, and shows no object.
      if (!current) throw new StillOpen(changedBy, 'Copy what you wrote, and reload the page.')
      const now = fieldsOf(current as B) as Fields
      const fields = Object.keys(mine)
        .filter((name) => !isEqual(now[name], seen[name]) && !isEqual(now[name], mine[name]))
        .map((name) => ({ name, theirs: now[name], mine: mine[name] }))
      const conflict = { changedBy, changedAt, fields }
      const choice = fields.length > 0 ? await askAbout(conflict) : 'mine'
      if (choice === 'theirs') return choice
      if (choice === 'later') throw new StillOpen(changedBy, 'Save again to see the differences.')
      seen = now
      etag = changed.etag
    }
  }
}

/** Whether two JSON values are equal, whatever the order of their members. A missing value equals null. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return (one ?? null) === (other ?? null)
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].every((name) => isEqual((one as Fields)[name], (other as Fields)[name]))
}
