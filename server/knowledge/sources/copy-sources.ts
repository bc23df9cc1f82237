import { copyFile, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import type { AgentReactions } from '../../agents/records/agent-reactions.ts'
import { shareTermsSalt } from '../../agents/records/knowledge-state.ts'
import type { Models } from '../../ai/models.ts'
import type { Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import { copyPages } from '../crawl/pages/copy-pages.ts'
import { isCrawl } from '../crawl/run/crawl-source.ts'
import { copyConnection } from '../notion/connection.ts'
import { enqueueTraining } from '../training/enqueue-training.ts'
import { enqueueFilling } from '../vectors/fill-space.ts'
import { copyVectors } from '../vectors/vectors.ts'
import { folderOf, ownPath } from './files.ts'
import { isLiveChunk } from './live-chunks.ts'
import { copyChoices } from './passage-choices.ts'
import type { SourceRow } from './queries.ts'

type Deps = { jobs: Jobs; secrets: Secrets; models: Models; filesDir: string }

/** Copies the sources of a live agent with their index and files to its clone. */
export const copySources =
  (ctx: Deps): AgentReactions['copySources'] =>
  async (trx, accountId, fromAgentId, toAgentId) => {
    const rows = await trx
      .selectFrom('sources')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('agent_id', '=', fromAgentId)
      .where('status', '<>', 'toBeDeleted')
      .where('left_out', '=', false)
      .orderBy('created_at')
      .execute()
    await shareTermsSalt(trx, accountId, fromAgentId, toAgentId)
    await copyConnection(ctx, trx, accountId, fromAgentId, toAgentId)
    for (const row of rows) await copySource(ctx, trx, accountId, row, toAgentId)
    await enqueueFilling({ ...ctx, db: trx }, toAgentId)
  }

async function copySource(
  ctx: Deps,
  trx: Trx,
  accountId: AccountId,
  row: SourceRow,
  agentId: string,
): Promise<void> {
  const id = newId()
  const content = { ...row.content }
  if (content.file) {
    const path = `${folderOf({ accountId, agentId }, id)}/${content.file.split('/').at(-1)}`
    await mkdir(dirname(join(ctx.filesDir, path)), { recursive: true, mode: 0o700 })
    await copyFile(ownPath(ctx.filesDir, row), join(ctx.filesDir, path))
    content.file = path
  }
  await trx
    .insertInto('sources')
    .values({
      ...row,
      id,
      agent_id: agentId,
      content: json(content),
      metadata: json(row.metadata),
      crawl: json(row.crawl),
      trainings: json(row.trainings),
      gaps: json(row.gaps),
    })
    .execute()
  // The index is copied as well, so what is live in the original is live in the copy at once.
  if (isCrawl(row)) await copyPages(trx, accountId, row.id, { id, agentId })
  else await copyChunks(trx, accountId, row, { id, agentId })
  await copyWords(trx, accountId, row, { id, agentId })
  await copyVectors(trx, row, { id, agentId })
  await copyChoices(trx, accountId, row.id, { id, agentId })
  if (row.status === 'untrained' || row.status === 'updated') {
    await enqueueTraining(ctx.jobs, trx, { ...row, id }, 'resumed')
  }
}

async function copyChunks(
  trx: Trx,
  accountId: AccountId,
  { id: sourceId, live_version }: SourceRow,
  copy: { id: string; agentId: string },
): Promise<void> {
  const live = live_version ?? 0
  await sql`
    insert into chunks (id, account_id, agent_id, source_id, version, ordinal, heading_path, page, text, questions, vector_key, anchor)
    select gen_random_uuid(), account_id, ${copy.agentId}, ${copy.id}, ${live}, ordinal, heading_path, page, text, questions, vector_key, anchor
    from chunks where account_id = ${accountId} and source_id = ${sourceId} and ${isLiveChunk(live)}`.execute(
    trx,
  )
}

/** Copies the indexed words of a source. A copied chunk has the text and title of its original, and so the same words. */
async function copyWords(
  trx: Trx,
  accountId: AccountId,
  { id: sourceId, agent_id }: SourceRow,
  copy: { id: string; agentId: string },
): Promise<void> {
  await sql`
    insert into chunk_words (agent_id, account_id, chunk_id, source_id, page_id, version, retired_in, vector_key, language, terms)
    select mine.agent_id, mine.account_id, mine.id, mine.source_id, mine.page_id, mine.version, mine.retired_in,
      mine.vector_key, words.language, words.terms
    from (
      select distinct on (chunks.vector_key, coalesce(chunks.title, '')) chunks.vector_key,
        coalesce(chunks.title, '') as title, w.language, w.terms
      from chunk_words as w join chunks on chunks.agent_id = w.agent_id and chunks.id = w.chunk_id
      where w.account_id = ${accountId} and w.agent_id = ${agent_id} and w.source_id = ${sourceId}) as words
    join chunks as mine on mine.account_id = ${accountId} and mine.source_id = ${copy.id}
      and mine.vector_key = words.vector_key and coalesce(mine.title, '') = words.title`.execute(trx)
}
