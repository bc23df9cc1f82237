import { sql } from 'kysely'
import { ANSWER, processInbound } from '../server/channels/inbound/process-inbound.ts'
import { lockThread, PROCESS_INBOUND } from '../server/channels/inbound/receive-message.ts'
import type { Service } from './start.ts'
import { until } from './until.ts'

/**
 * Processes what an agent has received on channels at once, as if nothing more had come for a while. Without it, tests
 * would wait for that while with each message.
 */
export async function takeIn({ ctx }: Service, agentId: string): Promise<void> {
  const threads = await ctx.db
    .selectFrom('channel_threads')
    .select(['id', 'account_id'])
    .where('agent_id', '=', agentId)
    .where('id', 'in', (eb) =>
      eb.selectFrom('inbound_messages').select('thread_id').where('taken_in_at', 'is', null),
    )
    .execute()
  for (const { id, account_id } of threads) {
    await ctx.db.transaction().execute(async (trx) => {
      await lockThread(trx, account_id, id)
      await trx
        .updateTable('inbound_messages')
        .set({ created_at: sql<Date>`now() - interval '1 minute'` })
        .where('thread_id', '=', id)
        .where('taken_in_at', 'is', null)
        .execute()
    })
    await processInbound(ctx, { threadId: id })
  }
}

/** Waits until the jobs of an agent's conversations on channels have run, and the answers that they began have ended. */
export async function channelsAreQuiet({ ctx }: Service, agentId: string): Promise<void> {
  await until('the end of the jobs', async () => {
    const { rows } = await sql`
      select from jobs where task in (${PROCESS_INBOUND}, ${ANSWER}) and (
        payload->>'threadId' in (select id::text from channel_threads where agent_id = ${agentId})
        or payload->>'conversationId' in (select id::text from conversations where agent_id = ${agentId}))`.execute(
      ctx.db,
    )
    return rows.length === 0
  })
  await ctx.generations.idle()
}

/** Runs the jobs of a task now that wait for a later attempt. */
export async function hurry({ ctx }: Service, task: string): Promise<void> {
  await sql`update jobs set run_at = now() where task = ${task} and run_at > now()`.execute(ctx.db)
  await ctx.notifier.publish(ctx.db, 'job', `${task}/0`)
}
