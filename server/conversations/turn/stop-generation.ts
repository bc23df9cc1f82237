import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import type { Db } from '../../platform/db/database.ts'
import { afterCommit } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { StopReason } from '../../platform/db/tables/conversations.ts'

/** What it takes to notify the process that runs a generation. */
type Notifying = Pick<Context, 'db' | 'generations' | 'notifier'>
type Deps = Notifying & Pick<Context, 'orphans'>

const MAX_WAIT_MS = 5_000
const LOOK_EVERY_MS = 50

/**
 * Ends the conversation's running generation, whichever process runs it, and waits until the text so far is stored.
 * Returns false when none is running. Calling it twice is harmless.
 */
export async function stopGeneration(
  ctx: Deps,
  accountId: AccountId,
  conversationId: string,
): Promise<boolean> {
  const id = await requestStop(ctx.db, accountId, conversationId, 'stop')
  if (id === null) return false
  await endRequested(ctx, id, 'stop')
  const live = ctx.generations.get(id)
  if (live) {
    await Promise.race([live.ending, wait(MAX_WAIT_MS)])
    return true
  }
  // Its process may be gone; then its text so far is stored here.
  if (await ctx.orphans.closeIfOrphaned(accountId, { conversationId })) return true
  const until = performance.now() + MAX_WAIT_MS
  while (performance.now() < until && (await isRunning(ctx.db, accountId, id))) await wait(LOOK_EVERY_MS)
  return true
}

/**
 * Stores the request to end the running generation. Its process reads it at the next poll at the latest, within a
 * second.
 */
export async function requestStop(
  db: Db,
  accountId: AccountId,
  conversationId: string,
  reason: StopReason,
): Promise<string | null> {
  const row = await db
    .updateTable('generations')
    // Once a takeover has requested the end, a later stop does not change the reason.
    .set({
      stop_reason: sql<StopReason>`case stop_reason when 'takeover' then stop_reason else ${reason} end`,
    })
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .where('status', '=', 'running')
    .returning('id')
    .executeTakeFirst()
  return row?.id ?? null
}

/** Notifies the process that runs it, after the request is committed. */
export async function endRequested(ctx: Notifying, generationId: string, reason: StopReason): Promise<void> {
  const live = ctx.generations.get(generationId)
  if (live) live.abort(reason)
  else await ctx.notifier.publish(ctx.db, 'stop', generationId)
}

/** Ends the generation, if any, that a person's takeover has to stop, once the takeover is committed. */
export async function stopAfterCommit(ctx: Notifying, generationId: string | null): Promise<void> {
  if (generationId !== null)
    await afterCommit(ctx.db, (db) => endRequested({ ...ctx, db }, generationId, 'takeover'))
}

async function isRunning(db: Db, accountId: AccountId, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('generations')
    .select('id')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .where('status', '=', 'running')
    .executeTakeFirst()
  return row !== undefined
}
