import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { ofAgent, ownRow } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { countWords, insertWords, ROWS_AT_ONCE } from '../training/store-chunks.ts'

/** The job that stores the words of an agent's chunks that a former version of this program has written. */
export const INDEX_WORDS = 'index-words'
export type IndexWords = { accountId: AccountId; agentId: string }

/** Returns the agents with live sources whose words are not complete, those that were asked last first. */
async function agentsToIndex(db: Db): Promise<IndexWords[]> {
  const { rows } = await sql<IndexWords>`
    select account_id as "accountId", agent_id as "agentId" from (
      select distinct account_id, agent_id from sources
      where live_version is not null and words_version is distinct from live_version) as incomplete
    order by (select max(updated_at) from conversations
      where conversations.account_id = incomplete.account_id and conversations.agent_id = incomplete.agent_id)
      desc nulls last`.execute(db)
  return rows
}

export async function enqueueIndexing({ db, jobs }: { db: Db; jobs: Jobs }): Promise<void> {
  for (const agent of await agentsToIndex(db))
    await jobs.enqueue<IndexWords>(db, INDEX_WORDS, agent, 0, agent.accountId)
}

/** Indexes the words of all agents before it returns, for commands that run while no process works on jobs. */
export async function indexAllWords(db: Db): Promise<void> {
  const { signal } = new AbortController()
  for (const agent of await agentsToIndex(db)) await indexWords({ db }, agent, { signal })
}

/** Stores the words source by source in short transactions. Interrupted, it continues where it was. */
export async function indexWords(
  { db, log }: { db: Db; log?: Context['log'] },
  { accountId, agentId }: IndexWords,
  { signal }: { signal: AbortSignal },
): Promise<void> {
  const sources = await db
    .selectFrom('sources')
    .select(['id', 'name'])
    .where(ofAgent({ accountId, agentId }))
    .where('live_version', 'is not', null)
    .where(sql<boolean>`words_version is distinct from live_version`)
    .orderBy('id')
    .execute()
  let done = 0
  for (const source of sources) {
    for (let last: string | null = null; ; ) {
      signal.throwIfAborted()
      const rows = await transact(db, (trx) => indexSome(trx, { accountId, agentId }, source, last))
      done += rows.length
      last = rows.at(-1)?.id ?? last
      if (rows.length < ROWS_AT_ONCE) break
      await setImmediate()
    }
    await transact(db, (trx) => complete(trx, { accountId, agentId }, source.id))
  }
  if (done > 0) log?.info({ agent: agentId, chunks: done }, 'the words of an agent are indexed')
}

type Source = { id: string; name: string | null }

async function indexSome(trx: Trx, { accountId, agentId }: IndexWords, source: Source, last: string | null) {
  const rows = await trx
    .selectFrom('chunks')
    .select(['id', 'source_id', 'page_id', 'version', 'retired_in', 'vector_key'])
    .select(['heading_path', 'text', 'questions', 'title'])
    .where(ofAgent({ accountId, agentId }))
    .where('source_id', '=', source.id)
    .$if(last !== null, (query) => query.where('id', '>', last))
    .where(sql<boolean>`not exists (
      select from chunk_words as w where w.agent_id = ${agentId} and w.chunk_id = chunks.id)`)
    .orderBy('id')
    .limit(ROWS_AT_ONCE)
    // Whoever deletes them or ends their use waits, and then finds their words as well.
    .forNoKeyUpdate()
    .execute()
  await insertWords(
    trx,
    { accountId, agentId },
    rows.map((row) => ({ ...row, name: row.title ?? source.name })),
  )
  return rows
}

async function complete(trx: Trx, { accountId, agentId }: IndexWords, sourceId: string): Promise<void> {
  const source = await trx
    .selectFrom('sources')
    .select('live_version')
    .where(ownRow(accountId, sourceId))
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!source?.live_version) return
  // A former version of this program replaces the chunks of single sources, and may have left some.
  await sql`
    delete from chunks
    where account_id = ${accountId} and source_id = ${sourceId} and page_id is null and retired_in is null
      and version < ${source.live_version}
      and exists (select from sources
        where account_id = ${accountId} and id = ${sourceId} and words_version is null)`.execute(trx)
  await trx
    .updateTable('sources')
    .set(await countWords(trx, { accountId, agentId, sourceId }, source.live_version))
    .where(ownRow(accountId, sourceId))
    .execute()
}
