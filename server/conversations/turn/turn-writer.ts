import type { Limits } from '../../accounts/plans/credits.ts'
import type { Db } from '../../db/database.ts'
import type { AgentRef } from '../../db/refs.ts'
import { together } from '../../db/statements/together.ts'
import { endReplies, type Opening, openConversations, type ReplyEnding } from './turn-statements.ts'

/** The most turns that one statement begins or ends, because it blocks the embedded database. */
const TURNS_AT_ONCE = 16
/** The shortest time between two statements that end answers of one agent, in milliseconds. */
const ENDS_EVERY_MS = 15

/**
 * Begins and ends the turns of an agent together when they come close to each other, because one statement for several
 * costs the database hardly more than one for a single turn.
 */
export type TurnWriter = {
  /** Stores a conversation as `openConversations` does. Throws what `exhaustedIn` knows. */
  open(ref: AgentRef, limits: Limits, opening: Opening): Promise<void>
  /**
   * Ends an answer as `endReplies` does; `ending` is called when the statement is sent. Resolves to false when
   * nothing was changed.
   */
  end(ref: AgentRef, ending: () => ReplyEnding): Promise<boolean>
}

export function createTurnWriter(
  db: Db,
  owner: { readonly id: string },
  { endsEveryMs = ENDS_EVERY_MS }: { endsEveryMs?: number } = {},
): TurnWriter {
  const open = together<{ limits: Limits; opening: Opening }, void>(
    async (_key, calls) => {
      const openings = JSON.stringify(calls.map(({ opening }) => opening))
      // The calls of one key have the same limits.
      const { limits } = calls[0] as { limits: Limits }
      await openConversations(db, { ...limits, owner: owner.id, openings })
      return calls.map(() => undefined)
    },
    { atOnce: TURNS_AT_ONCE },
  )
  const end = together<{ ref: AgentRef; ending: () => ReplyEnding }, boolean>(
    async (_key, calls) => {
      const { ref } = calls[0] as { ref: AgentRef }
      const endings = calls.map(({ ending }) => ({ agentId: ref.agentId, ...ending() }))
      const { rows } = await endReplies(db, { ...ref, endings: JSON.stringify(endings) })
      const ended = new Set(rows.map(({ id }) => id))
      return endings.map(({ id }) => ended.has(id))
    },
    { atOnce: TURNS_AT_ONCE, everyMs: endsEveryMs },
  )
  return {
    open: (ref, limits, opening) =>
      open(JSON.stringify([ref.agentId, limits.allowance, limits.agentLimit, limits.month]), {
        limits,
        opening,
      }),
    end: (ref, ending) => end(ref.agentId, { ref, ending }),
  }
}
