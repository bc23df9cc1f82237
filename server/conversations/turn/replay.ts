import type { Context } from '../../context.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import type { Replay } from '../../http/route.ts'
import { noLonger } from '../records/queries.ts'
import type { Reading } from '../stream/growing-reading.ts'
import { startChat } from './start.ts'
import type { ChatRequest } from './turn.ts'

type Needs = Pick<Context, 'db' | 'generations' | 'orphans' | 'followers'>

/** What became of a generation that an earlier request started. */
type Earlier =
  | { is: 'there'; reading: Reading }
  /** Its process ended before the first word, so its question still needs an answer. */
  | { is: 'unanswered'; conversationId: string; kind: 'reply' | 'continuation' | 'retry' }

/** The events and the answer of an earlier generation, live or from the log. */
async function readEarlier(ctx: Needs, accountId: AccountId, generationId: string): Promise<Earlier> {
  const live = ctx.generations.get(generationId)
  if (live) return { is: 'there', reading: live }
  await ctx.orphans.closeIfOrphaned(accountId, { generationId })
  const row = await ctx.db
    .selectFrom('generations')
    .select(['id', 'account_id', 'first_event', 'conversation_id', 'kind', 'status', 'message_state'])
    .select('stop_reason')
    .where('account_id', '=', accountId)
    .where('id', '=', generationId)
    .executeTakeFirst()
  if (!row) throw noLonger()
  // It may have started in this process meanwhile.
  const started = ctx.generations.get(row.id)
  if (started) return { is: 'there', reading: started }
  const cameToNothing = row.message_state === 'none' && row.stop_reason === null
  if (row.status === 'interrupted' && cameToNothing)
    return { is: 'unanswered', conversationId: row.conversation_id, kind: row.kind }
  return { is: 'there', reading: ctx.followers.follow(row) }
}

/**
 * Returns the response to an earlier request with the same key. If that came to nothing, its question is answered now.
 */
export async function readAgain(
  ctx: Context,
  { generationId }: Replay,
  request: Omit<ChatRequest, 'conversationId'>,
): Promise<Reading> {
  const earlier = await readEarlier(ctx, request.account.id, generationId)
  if (earlier.is === 'there') return earlier.reading
  const { conversationId, kind } = earlier
  const ask = kind === 'retry' ? request.ask : ({ kind: kind === 'reply' ? 'pending' : 'continue' } as const)
  return startChat(ctx, { ...request, ask, conversationId, insteadOf: generationId })
}
