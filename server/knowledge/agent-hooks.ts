import { copyFile, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import type { AgentHooks } from '../agents/hooks.ts'
import type { Context } from '../context.ts'
import type { Trx } from '../db/database.ts'
import { newId } from '../db/ids.ts'
import { json } from '../db/json.ts'
import type { AccountId } from '../db/tables.ts'
import { addLink } from './create-source.ts'
import { folderOf } from './files.ts'
import type { SourceRow } from './queries.ts'
import { TRAIN_SOURCE, type TrainSource } from './train-task.ts'

/** What agents need of sources: the seed link, and the copies of a clone. */
export const agentHooks = (ctx: Context): Omit<AgentHooks, 'copyActions'> => ({
  async addLinkSource(account, agentId, url) {
    await addLink(ctx, account, agentId, url)
  },

  async copySources(trx, accountId, fromAgentId, toAgentId) {
    const rows = await trx
      .selectFrom('sources')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('agent_id', '=', fromAgentId)
      .orderBy('created_at')
      .execute()
    for (const row of rows) await copySource(ctx, trx, accountId, row, toAgentId)
  },
})

async function copySource(
  ctx: Context,
  trx: Trx,
  accountId: AccountId,
  row: SourceRow,
  agentId: string,
): Promise<void> {
  const id = newId()
  const content = { ...row.content }
  if (content.file) {
    const path = `${folderOf(accountId, agentId, id)}/${content.file.split('/').at(-1)}`
    await mkdir(dirname(join(ctx.filesDir, path)), { recursive: true, mode: 0o700 })
    await copyFile(join(ctx.filesDir, content.file), join(ctx.filesDir, path))
    content.file = path
  }
  await trx
    .insertInto('sources')
    .values({ ...row, id, agent_id: agentId, content: json(content), metadata: json(row.metadata) })
    .execute()
  // Index and all: what is live in the original answers in the copy at once.
  await sql`
    insert into chunks (id, account_id, agent_id, source_id, version, ordinal, heading_path, page, text, questions, vector, vector_space)
    select gen_random_uuid(), account_id, ${agentId}, ${id}, version, ordinal, heading_path, page, text, questions, vector, vector_space
    from chunks where account_id = ${accountId} and source_id = ${row.id}`.execute(trx)
  if (row.status === 'untrained' || row.status === 'updated') {
    await ctx.jobs.enqueue<TrainSource>(trx, TRAIN_SOURCE, { sourceId: id, version: row.content_version })
  }
}
