import type { Context } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import { EVENTS_PER_GENERATION } from '../turn/begin-statements.ts'
import type { FrameSource } from './growing-reading.ts'

type Attached = { source: FrameSource; firstEvent: number }

type Needs = Pick<Context, 'db' | 'generations' | 'orphans' | 'followers'>

/** Returns the running generation of a conversation, whichever process runs it; null when there is none. */
export async function attach(
  ctx: Needs,
  accountId: AccountId,
  conversationId: string,
): Promise<Attached | null> {
  const here = ctx.generations.ofConversation(conversationId)
  if (here && !here.ended) return { source: here, firstEvent: here.ids.firstEvent }
  const row = await runningGeneration(ctx.db, accountId, conversationId)
  if (!row) return null
  // It may have started in this process meanwhile.
  const live = ctx.generations.get(row.id)
  if (live) return { source: live, firstEvent: row.first_event }
  if (await ctx.orphans.closeIfOrphaned(accountId, { conversationId })) return null
  return { source: ctx.followers.follow(row), firstEvent: row.first_event }
}

export async function runningGeneration(db: Db, accountId: AccountId, conversationId: string) {
  return db
    .selectFrom('generations')
    .select(['id', 'account_id', 'first_event', 'message_id'])
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .where('status', '=', 'running')
    .executeTakeFirst()
}

/**
 * Returns how many frames a reader already has if `lastEventId` is the last event it saw: none if the id belongs to an
 * earlier generation of the conversation.
 */
export function positionAfter(lastEventId: string | undefined, { firstEvent }: Attached): number {
  const seen = /^\d{1,15}$/.test(lastEventId ?? '') ? Number(lastEventId) - firstEvent : 0
  return seen > 0 && seen < EVENTS_PER_GENERATION ? seen : 0
}
