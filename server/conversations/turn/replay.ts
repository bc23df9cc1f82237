import type { Selectable } from 'kysely'
import type { Context } from '../../context.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { GenerationsTable } from '../../platform/db/tables/conversations.ts'
import type { Replay } from '../../platform/http/route.ts'
import { noLonger } from '../records/queries.ts'
import { errorOf, readLog } from '../stream/generation-log.ts'
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
    .where('account_id', '=', accountId)
    .where('id', '=', generationId)
    .executeTakeFirst()
  if (!row) throw noLonger()
  // It may have started in this process meanwhile.
  const started = ctx.generations.get(row.id)
  if (started) return { is: 'there', reading: started }
  if (!(await cameToNothing(ctx, row))) return { is: 'there', reading: ctx.followers.follow(row) }
  const since = await answeredSince(ctx, row)
  if (since) {
    const reading = ctx.generations.get(since.id) ?? ctx.followers.follow(since)
    return { is: 'there', reading: namingQuestion(reading, since.user_message_id, row.user_message_id) }
  }
  const { conversation_id: conversationId, message_id: messageId, kind } = row
  return { is: 'unanswered', conversationId, kind, messageId }
}

/** Returns an answer to several messages as the sender of the message `own` reads it. It names the last, `newest`. */
function namingQuestion(reading: Reading, newest: string, own: string): Reading {
  const named = (frames: readonly string[]): string[] =>
    frames.map((frame) => frame.replaceAll(`"${newest}"`, `"${own}"`))
  return {
    get count() {
      return reading.count
    },
    get ended() {
      return reading.ended
    },
    get broken() {
      return reading.broken
    },
    get started() {
      return reading.started
    },
    get ending() {
      return reading.ending
    },
    get answer() {
      return reading.answer.then((answer) => ({
        ...answer,
        metadata: { ...answer.metadata, userMessageId: own },
      }))
    },
    held(from) {
      const frames = reading.held(from)
      return frames && named(frames)
    },
    logged: async (from) => named(await reading.logged(from)),
    showing: () => reading.showing?.() ?? 'allowed',
    watch: (listener) => reading.watch(listener),
  }
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
  const error = ending && errorOf(ending)
  return error?.code === 'SERVICE_OVERLOADED' || error?.code === 'INTERNAL_SERVER_ERROR'
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
