import { sql } from 'kysely'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { FOLDING, foldCounts } from '../../records/fold-counts.ts'
import { documentFacets } from './document-facets.ts'
import { type Document, loadDocuments, MAX_CHARACTERS } from './load-documents.ts'
import { createStemmers, type Stemmers } from './stemmers.ts'
import { quoted } from './ts-text.ts'
import { MAX_TERMS, wordsVector } from './words-vector.ts'

/** The most rows of the queue in one transaction, because it blocks the embedded database. */
const BATCH = 100
/** How far below a batch the queue is searched for further rows of its conversations. A turn queues several. */
const NEARBY = 1_000

type Indexer = {
  /**
   * Processes everything queued so far, or up to `most` batches. Rows queued meanwhile wait for the next run, so that
   * the rows of one turn are mostly processed together. Returns the number of rows written.
   */
  run(db: Db, most?: number): Promise<number>
}

/**
 * Maintains conversation_search and the folded counts. Any process may call it at any time: one does the work, and the
 * others return at once. Whatever is not done when a process ends remains in the queue.
 */
export function createIndexer(): Indexer {
  const stem = createStemmers()
  return {
    async run(db, most = Number.POSITIVE_INFINITY) {
      let made = 0
      let until = await newestQueued(db)
      for (let batch = 0; until !== null && batch < most; batch++) {
        const newest: number = until
        const done = await transact(db, (trx) => indexBatch(trx, stem, newest))
        if (done === null) break
        made += done.made
        until = done.until
      }
      return made
    },
  }
}

async function newestQueued(db: Db): Promise<number | null> {
  const { rows } = await sql<{ id: number | null }>`select max(id) as id from search_queue`.execute(db)
  return rows[0]?.id ?? null
}

/**
 * null: the queue is empty, or another process is working on it. The newest rows come first, because after a restore
 * all conversations are queued. An answer that has just started usually ends soon, and its conversation is then written
 * only once.
 */
async function indexBatch(
  trx: Trx,
  stem: Stemmers,
  until: number,
): Promise<{ made: number; until: number } | null> {
  const { rows } = await sql<{ conversation_id: string }>`
    with picked as materialized (
      select id, conversation_id from search_queue as queued
      where id <= ${until} and (select pg_try_advisory_xact_lock(${FOLDING}))
        and not exists (select from generations where generations.conversation_id = queued.conversation_id
          and status = 'running' and started_at > now() - interval '2 seconds')
      order by id desc limit ${BATCH}
    )
    delete from search_queue
    where id between (select min(id) from picked) - ${NEARBY}::integer and (select max(id) from picked)
      and conversation_id in (select conversation_id from picked)
    returning conversation_id`.execute(trx)
  if (rows.length === 0) return null
  const ids = [...new Set(rows.map(({ conversation_id }) => conversation_id))]
  const documents = asManyAsFit(await loadDocuments(trx, ids))
  const putBackAt = await putBack(trx, without(ids, documents))
  await storeRows(trx, documents, stem)
  await foldCounts(trx)
  return { made: documents.length, until: putBackAt ?? until }
}

/** Limits a batch, since requests are only served between two batches. */
function asManyAsFit(documents: Document[]): Document[] {
  let characters = 0
  return documents.filter(({ texts }, index) => {
    characters += texts.reduce((sum, text) => sum + text.length, 0)
    return index === 0 || characters <= MAX_CHARACTERS
  })
}

const without = (ids: string[], documents: Document[]): string[] => {
  const loaded = new Set(documents.map(({ id }) => id))
  return ids.filter((id) => !loaded.has(id))
}

/**
 * Queues conversations again that were locked or did not fit into the batch, but not those that were deleted. Returns
 * the position of the last one.
 */
async function putBack(trx: Trx, ids: string[]): Promise<number | null> {
  if (ids.length === 0) return null
  const { rows } = await sql<{ id: number }>`insert into search_queue (conversation_id)
    select id from conversations where id = any(${ids}::uuid[]) and not transient returning id`.execute(trx)
  return rows.at(-1)?.id ?? null
}

const rowOf = async (document: Document, stem: Stemmers) => ({
  conversation_id: document.id,
  account_id: document.account_id,
  agent_id: document.agent_id,
  created_at: document.created_at,
  updated_at: document.updated_at,
  facets: documentFacets(document).map(quoted).join(' '),
  words: await wordsVector(document.title, document.texts, stem, document.read_from > 0),
  indexed_seq: document.last_seq,
  indexed_cut: document.cut_messages,
  goes_on: document.read_from > 0,
})

async function storeRows(trx: Trx, documents: Document[], stem: Stemmers): Promise<void> {
  const rows: object[] = []
  for (const document of documents) rows.push(await rowOf(document, stem))
  await sql`
    insert into conversation_search (conversation_id, account_id, agent_id, created_at, updated_at, facets, words,
      indexed_seq, indexed_cut)
    select new.conversation_id, new.account_id, new.agent_id, new.created_at, new.updated_at, new.facets::tsvector,
      case when not new.goes_on then new.words::tsvector
        when length(old.words) < ${MAX_TERMS} then strip(old.words) || new.words::tsvector
        else old.words end,
      new.indexed_seq, new.indexed_cut
    from jsonb_to_recordset(${json(rows)}) as new (conversation_id uuid, account_id uuid, agent_id text,
      created_at timestamptz, updated_at timestamptz, facets text, words text, indexed_seq integer,
      indexed_cut integer, goes_on boolean)
    left join conversation_search as old on old.conversation_id = new.conversation_id
    on conflict (conversation_id) do update set created_at = excluded.created_at, updated_at = excluded.updated_at,
      facets = excluded.facets, words = excluded.words, indexed_seq = excluded.indexed_seq,
      indexed_cut = excluded.indexed_cut`.execute(trx)
}
