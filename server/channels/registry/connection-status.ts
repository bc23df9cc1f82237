export const connectionStatuses = ['connected', 'failing', 'untested'] as const

type ConnectionStatus = (typeof connectionStatuses)[number]

/** The last use of one server or account: why it failed, and when it was. */
export type LastUse = { error: string | null; checkedAt: Date | null }

/** A connection works only if every part of it did when it was last used. */
export function statusOf(uses: readonly LastUse[]): ConnectionStatus {
  if (uses.some(({ error }) => error !== null)) return 'failing'
  return uses.length > 0 && uses.every(({ checkedAt }) => checkedAt !== null) ? 'connected' : 'untested'
}
