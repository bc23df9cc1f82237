import { bumpKnowledgeVersion } from '../../../agents/records/knowledge-state.ts'
import type { Context } from '../../../context.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import { countWords } from '../../training/store-chunks.ts'
import { switchSpace } from '../../vectors/fill-space.ts'
import type { CrawlRun, LockedSource } from '../run/crawl-run.ts'

/** Chunks are counted again when so large a share of them is new, because counting reads all of them. */
const UNCOUNTED_SHARE = 0.25

/**
 * Makes live what the caller's step has stored of a crawl: `added` chunks at most. The first step of a crawl with texts makes
 * its version the live one, for which the caller has locked the agent.
 */
export async function publishPages(
  { models }: Pick<Context, 'models'>,
  trx: Trx,
  run: CrawlRun,
  { row, state }: LockedSource,
  added: number,
): Promise<void> {
  const { agentId, sourceId, version } = run
  const ref = { accountId: run.account.id, agentId }
  const isFirst = row.live_version !== version
  state.uncounted = (state.uncounted ?? 0) + added
  // The words of a version that is not indexed yet are counted when they are.
  const isIndexed = row.words_version === row.live_version
  const isMuch = state.uncounted > row.chunk_count * UNCOUNTED_SHARE
  const counts = isIndexed && isMuch ? await countWords(trx, { ...ref, sourceId }, version) : null
  if (counts) state.uncounted = 0
  if (!isFirst && !counts) return
  await trx
    .updateTable('sources')
    .set({
      live_version: version,
      ...(isIndexed ? { words_version: version } : {}),
      ...counts,
    })
    .where(ownRow(run.account.id, sourceId))
    .execute()
  if (!isFirst) return
  await bumpKnowledgeVersion(trx, ref, true)
  // The first source of an agent brings its space with it.
  await switchSpace(trx, ref, models.embedder?.space ?? null)
}
