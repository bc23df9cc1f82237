import type { Limits } from '../../accounts/plans/credits.ts'
import type { Db } from '../../db/database.ts'
import type { AgentRef } from '../../db/refs.ts'
import { together } from '../../db/statements/together.ts'
import { type Opening, openConversations } from './begin-statements.ts'
import { endReplies, type ReplyEnding } from './end-statements.ts'
import type { Generations } from './generations.ts'

/** The most turns per statement, because a statement blocks the embedded database while it runs. */
const TURNS_AT_ONCE = 16
/** The shortest time between two statements that end answers of one agent, in milliseconds. */
const ENDS_EVERY_MS = 15

/**
 * Begins and ends the turns of an agent together when they come close to each other, because one statement for several
 * costs the database hardly more than one for a single turn.
 */
export type TurnWriter = {
  /** Stores a conversation as `openConversations` does. Throws the errors that `exhaustedIn` recognises. */
  open(ref: AgentRef, limits: Limits, opening: Opening): Promise<void>
  /**
   * Ends an answer as `endReplies` does; `ending` is called when the statement is sent. Resolves to false when
   * nothing was changed.
   */
  end(ref: AgentRef, ending: () => ReplyEnding): Promise<boolean>
}

type Needs = { db: Db; process: { readonly id: string }; generations: Pick<Generations, 'countOf'> }

type Beginning = { limits: Limits; opening: Opening }
type End = { ref: AgentRef; ending: () => ReplyEnding }

export function createTurnWriter({ db, process, generations }: Needs): TurnWriter {
  const openAll = async (_key: string, calls: Beginning[]): Promise<undefined[]> => {
    const openings = JSON.stringify(calls.map(({ opening }) => opening))
    // The calls of one key have the same limits.
    const { limits } = calls[0] as Beginning
    await openConversations(db, { ...limits, owner: process.id, openings })
    return calls.map(() => undefined)
  }
  const endAll = async (_key: string, calls: End[]): Promise<boolean[]> => {
    const { ref } = calls[0] as End
    const endings = calls.map(({ ending }) => ({ agentId: ref.agentId, ...ending() }))
    // dropReplies locks replies in the same order.
    const inOrder = endings.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    const { rows } = await endReplies(db, { ...ref, endings: JSON.stringify(inOrder) })
    const ended = new Set(rows.map(({ id }) => id))
    return endings.map(({ id }) => ended.has(id))
  }
  const open = together(openAll, { atOnce: TURNS_AT_ONCE })
  const end = together(endAll, { atOnce: TURNS_AT_ONCE, everyMs: ENDS_EVERY_MS })
  return {
    async open(ref, limits, opening) {
      const { allowance, agentLimit, month } = limits
      await open(JSON.stringify([ref.agentId, allowance, agentLimit, month]), { limits, opening })
    },
    async end(ref, ending) {
      // When no other answer of the account is running, there is nothing to wait for.
      if (generations.countOf(ref.accountId) > 1) return end(ref.agentId, { ref, ending })
      const [isEnded] = await endAll(ref.agentId, [{ ref, ending }])
      return isEnded === true
    },
  }
}
