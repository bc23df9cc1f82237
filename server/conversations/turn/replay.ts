import type { Selectable } from 'kysely'
import type { Context } from '../../context.ts'
import { ownRow } from '../../platform/db/refs.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { GenerationsTable } from '../../platform/db/tables/conversations.ts'
import type { Replay } from '../../platform/http/route.ts'
import { noLonger } from '../records/queries.ts'
import { readLog } from '../stream/generation-log.ts'
import type { Reading } from '../stream/reading.ts'
import { startChat } from './start.ts'
import type { ChatRequest, TurnNeeds } from './turn.ts'

type Deps = Pick<Context, 'db' | 'generations' | 'orphans' | 'followers'>

/** What became of a generation that an earlier request started. */
type Earlier =
  | { is: 'there'; reading: Reading }
  /** It ended before its first word and not because of the provider, so its question still needs an answer. */
  | { is: 'unanswered'; conversationId: string; kind: GenerationsTable['kind']; messageId: string }

const READ = [
  'id',
  'account_id',
  'conversation_id',
  'kind',
  'user_message_id',
  'message_id',
  'status',
  'message_state',
  'stop_reason',
  'asked_seq',
  'first_event',
] as const

type Row = Pick<Selectable<GenerationsTable>, (typeof READ)[number]>

/** The events and the answer of an earlier generation, live or from the log. */
async function readEarlier(ctx: Deps, accountId: AccountId, generationId: string): Promise<Earlier> {
  const live = ctx.generations.get(generationId)
  if (live) return { is: 'there', reading: live }
  await ctx.orphans.closeIfOrphaned(accountId, { generationId })
  const row = await ctx.db
    .selectFrom('generations')
    .select(READ)
    .where(ownRow(accountId, generationId))
    .executeTakeFirst()
  if (!row) throw noLonger()
  // It may have started in this process meanwhile.
  const started = ctx.generations.get(row.id)
  if (started) return { is: 'there', reading: started }
  if (!(await cameToNothing(ctx, row))) return { is: 'there', reading: ctx.followers.follow(row) }
  const since = await answeredSince(ctx, row)
  // It answers several messages, and names the last of them.
  if (since) return { is: 'there', reading: ctx.followers.follow(since, row.user_message_id) }
  const { conversation_id: conversationId, message_id: messageId, kind } = row
  return { is: 'unanswered', conversationId, kind, messageId }
}

/**
 * Returns whether a generation ended without a message for a reason of ours that passes: its process died, the
 * database was away, or something unexpected happened. A failure of the provider is a response like any other.
 */
async function cameToNothing(
  { db }: Deps,
  { id, account_id, status, message_state, stop_reason }: Row,
): Promise<boolean> {
  if (message_state !== 'none' || stop_reason !== null) return false
  if (status !== 'failed') return status === 'interrupted'
  const { ending } = await readLog(db, account_id, id, 0)
  const code = ending && 'error' in ending ? ending.error.code : null
  return code === 'SERVICE_OVERLOADED' || code === 'INTERNAL_SERVER_ERROR'
}

/** Returns the later generation of the conversation that has answered the same question with others, if there is one. */
const answeredSince = (
  { db }: Deps,
  { account_id, conversation_id, asked_seq, first_event }: Row,
): Promise<Row | undefined> =>
  db
    .selectFrom('generations')
    .select(READ)
    .where('account_id', '=', account_id)
    .where('conversation_id', '=', conversation_id)
    .where('first_event', '>', first_event)
    .where('asked_seq', '>=', asked_seq)
    .where('message_state', '=', 'stored')
    .orderBy('first_event')
    .limit(1)
    .executeTakeFirst()

/**
 * Returns the response to an earlier request with the same key. If that came to nothing, its question is answered now,
 * unless a later turn has answered it.
 */
export async function readAgain(
  ctx: Deps & TurnNeeds,
  { generationId }: Replay,
  request: Omit<ChatRequest, 'conversationId'>,
): Promise<Reading> {
  const earlier = await readEarlier(ctx, request.account.id, generationId)
  if (earlier.is === 'there') return earlier.reading
  const { conversationId, kind, messageId } = earlier
  const ask = kind === 'retry' ? request.ask : ({ kind: kind === 'reply' ? 'pending' : 'continue' } as const)
  return startChat(ctx, { ...request, ask, conversationId, insteadOf: { generationId, messageId } })
}
