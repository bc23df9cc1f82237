import type { Db } from '../../../db/database.ts'
import type { AccountId } from '../../../db/tables/columns.ts'
import { chunksWithVectors, indexedChunk } from '../../index/indexed-chunk.ts'
import type { AgentIndex } from '../../search/agent-index.ts'
import type { IndexedChunk } from '../../search/passage.ts'

const MARKS_AT_ONCE = 1_000
const PAGES_AT_ONCE = 50

type PagedSource = { id: string; name: string | null; url: string | null; live_version: number | null }
type Target = {
  index: Pick<AgentIndex, 'replaceSource' | 'removeSource'>
  /** The entries of the index by key, each with a mark of its state. */
  sources: Map<string, string>
}

/** Each page of a site is an entry of its own, so that only changed pages are indexed after a crawl. */
const keyOf = (sourceId: string, pageId: string): string => `${sourceId}/${pageId}`

/** Returns the source of an entry of the index. */
export const sourceOfKey = (key: string): string => key.split('/', 1)[0] ?? key

/** Updates the entries of a crawl or sitemap source to its live version. */
export async function syncPages(
  db: Db,
  accountId: AccountId,
  source: PagedSource,
  target: Target,
  space: string | null,
): Promise<void> {
  const shown = new Set<string>()
  let changed: { id: string; mark: string }[] = []
  const flush = async (): Promise<void> => {
    const pages = changed
    changed = []
    if (pages.length === 0) return
    const chunks = await chunksOf(
      db,
      accountId,
      source,
      pages.map(({ id }) => id),
      space,
    )
    for (const { id, mark } of pages) {
      const key = keyOf(source.id, id)
      await target.index.replaceSource(key, chunks.get(id) ?? [])
      target.sources.set(key, mark)
    }
  }
  for await (const { id, changed_in } of shownPages(db, accountId, source.id)) {
    const key = keyOf(source.id, id)
    shown.add(key)
    // Changes by a crawl that is not live yet are indexed when it goes live.
    const mark = changed_in <= (source.live_version ?? 0) ? String(changed_in) : 'before'
    if (target.sources.get(key) !== mark) changed.push({ id, mark })
    if (changed.length >= PAGES_AT_ONCE) await flush()
  }
  await flush()
  for (const key of target.sources.keys()) {
    if (key === source.id || sourceOfKey(key) !== source.id || shown.has(key)) continue
    target.index.removeSource(key)
    target.sources.delete(key)
  }
}

async function* shownPages(
  db: Db,
  accountId: AccountId,
  sourceId: string,
): AsyncGenerator<{ id: string; changed_in: number }> {
  for (let last = 0; ; ) {
    const rows = await db
      .selectFrom('pages')
      .select(['id', 'number', 'changed_in'])
      .where('account_id', '=', accountId)
      .where('source_id', '=', sourceId)
      .where('number', '>', last)
      .where('changed_in', '>', 0)
      .where('hidden', '=', false)
      .orderBy('number')
      .limit(MARKS_AT_ONCE)
      .execute()
    yield* rows
    last = rows.at(-1)?.number ?? 0
    if (rows.length < MARKS_AT_ONCE) return
  }
}

async function chunksOf(
  db: Db,
  accountId: AccountId,
  source: PagedSource,
  pageIds: string[],
  space: string | null,
): Promise<Map<string, IndexedChunk[]>> {
  const live = source.live_version ?? 0
  const rows = await chunksWithVectors(db, space)
    .select('chunks.page_id')
    .where('chunks.account_id', '=', accountId)
    .where('chunks.page_id', 'in', pageIds)
    .where('chunks.version', '<=', live)
    .where((eb) => eb.or([eb('chunks.retired_in', 'is', null), eb('chunks.retired_in', '>', live)]))
    .orderBy('chunks.page_id')
    .orderBy('chunks.ordinal')
    .execute()
  const chunks = new Map<string, IndexedChunk[]>()
  for (const row of rows) {
    const list = chunks.get(row.page_id ?? '') ?? []
    list.push(indexedChunk(row, source))
    chunks.set(row.page_id ?? '', list)
  }
  return chunks
}
