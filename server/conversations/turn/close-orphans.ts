import { type Selectable, sql } from 'kysely'
import type { Logger } from 'pino'
import { withoutMarkers } from '../../knowledge/search/answering/citations.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { GenerationsTable } from '../../platform/db/tables/conversations.ts'
import { forgetDeadProcesses } from '../../platform/db/upkeep/processes.ts'
import {
  closingResults,
  dropRunningCalls,
  endCalls,
  keptOfBroken,
  resultsOf,
  unresolvedCalls,
} from '../records/parts.ts'
import type { StreamEvent } from '../stream/events.ts'
import { partsOf, readLog } from '../stream/generation-log.ts'
import { type DeliverAnswer, endTurn, lockConversation, lostBeforeWords } from './end-turn.ts'
import type { Orphans } from './turn.ts'

const AT_ONCE = 200

/**
 * Matches a running generation whose process has ended or was declared dead, so that its epoch is not the current one.
 */
const isOrphaned = sql<boolean>`generations.status = 'running' and not exists (
  select from processes where processes.id = generations.owner and processes.epoch = generations.epoch)`

type Deps = { db: Db; log: Logger; deliverAnswer: DeliverAnswer }

export const createOrphans = (needs: Deps): Orphans => ({
  closeAll: () => closeAll(needs),
  closeIfOrphaned: (accountId, which) => closeIfOrphaned(needs, accountId, which),
})

async function closeAll(ctx: Deps): Promise<number> {
  let closed = 0
  const failed: { id: string; error: unknown }[] = []
  let found = await orphansAfter(ctx.db, null)
  if (found.length === 0) await forgetDeadProcesses(ctx.db)
  // Those that could not be closed are passed over, because they would otherwise keep the later ones waiting.
  for (; found.length > 0; found = await orphansAfter(ctx.db, found.at(-1)?.id ?? null)) {
    for (const { id, account_id, conversation_id } of found) {
      try {
        if (await closeOne(ctx, account_id, conversation_id, id)) closed++
      } catch (error) {
        failed.push({ id, error })
      }
    }
  }
  const [first] = failed
  if (first) {
    const details = { err: first.error, generation: first.id, count: failed.length }
    ctx.log.error(details, 'interrupted generations could not be closed')
  }
  return closed
}

/** Returns the next generations of dead processes, in the order of their ids. */
function orphansAfter(db: Db, after: string | null) {
  return db
    .selectFrom('generations')
    .select(['id', 'account_id', 'conversation_id'])
    .where(isOrphaned)
    .$if(after !== null, (query) => query.where('id', '>', after))
    .orderBy('id')
    .limit(AT_ONCE)
    .execute()
}

async function closeIfOrphaned(
  ctx: Deps,
  accountId: AccountId,
  which: Parameters<Orphans['closeIfOrphaned']>[1],
): Promise<boolean> {
  const row = await ctx.db
    .selectFrom('generations')
    .select(['id', 'conversation_id'])
    .where('account_id', '=', accountId)
    .where((eb) =>
      'generationId' in which
        ? eb('id', '=', which.generationId)
        : eb('conversation_id', '=', which.conversationId),
    )
    .where(isOrphaned)
    .executeTakeFirst()
  return row ? closeOne(ctx, accountId, row.conversation_id, row.id) : false
}

/** Checks the generation again while holding the locks of the conversation and of the generation, and ends it. */
async function closeOne(
  { db, deliverAnswer }: Deps,
  accountId: AccountId,
  conversationId: string,
  id: string,
): Promise<boolean> {
  return transact(db, async (trx) => {
    const conversation = await lockConversation(trx, accountId, conversationId)
    const row = await trx
      .selectFrom('generations')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('id', '=', id)
      .where(isOrphaned)
      // Writers to its log hold a weaker lock on the row, so nothing is appended from here on.
      .forUpdate()
      .executeTakeFirst()
    if (!row) return false
    const owner = { accountId, agentId: row.agent_id }
    const { events } = await readLog(trx, accountId, id, 0)
    const logged = partsOf(events)
    await endCalls(trx, owner, resultsOf(logged).values())
    await dropRunningCalls(trx, owner, id)
    const results = closingResults(unresolvedCalls(logged), await outputsOf(trx, row))
    const added: StreamEvent[] = results.map(({ toolCallId, output }) => ({
      type: 'tool-output-available',
      toolCallId,
      output,
      providerExecuted: true,
    }))
    const ids = {
      id,
      conversationId,
      userMessageId: row.user_message_id,
      messageId: row.message_id,
      userId: conversation?.user_id ?? null,
      credits: row.credits,
      kind: row.kind,
      epoch: row.epoch,
      firstEvent: row.first_event,
    }
    // The passages that the markers refer to were lost with the process.
    const parts = keptOfBroken(row.kind, partsOf([...events, ...added])).map((part) =>
      part.type === 'text' ? { ...part, text: withoutMarkers(part.text) } : part,
    )
    const hasBegun = events.length > 0
    const credits = parts.length > 0 ? row.credits : 0
    // A continuation can still be continued.
    const reason = row.kind === 'continuation' ? {} : { finishReason: 'error' as const }
    const metadata = { model: row.model, ...reason }
    const closer = { owner: row.owner, epoch: row.epoch, ownerAfter: null }
    await endTurn({ deliverAnswer }, trx, owner, ids, closer, {
      status: 'interrupted',
      finishReason: 'error',
      message: parts.length > 0 ? { parts, metadata } : null,
      isPaid: parts.length > 0,
      waiting: [],
      unlogged: { position: events.length, events: added },
      told: { hasBegun, credits, ...(hasBegun ? {} : { error: lostBeforeWords() }) },
    })
    return true
  })
}

async function outputsOf(trx: Trx, { id, account_id }: Selectable<GenerationsTable>) {
  const rows = await trx
    .selectFrom('tool_calls')
    .select(['id', 'output'])
    .where('account_id', '=', account_id)
    .where('generation_id', '=', id)
    .where('output', 'is not', null)
    .execute()
  return new Map(rows.map(({ id: callId, output }) => [callId, output]))
}
