import type { Context } from '../../../context.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { Attempt } from '../../../platform/jobs/jobs.ts'
import type { SourceRow } from '../../sources/queries.ts'
import { loadIfChanged, OriginGone, TrainingFailure } from '../load-content.ts'
import { contentHash } from '../training-columns.ts'
import type { SyncSource } from './claim-resyncs.ts'
import { keepVersion, noteFailure, startVersion, takeOut } from './outcomes.ts'
import { startCrawl } from './start-crawl.ts'

type Deps = Pick<
  Context,
  'db' | 'process' | 'jobs' | 'log' | 'fetcher' | 'renderer' | 'extractor' | 'ocr' | 'filesDir' | 'secrets'
>

/**
 * Checks a source's origin once. Changed content is trained, and withdrawn content is removed. It may run twice.
 * Throws when a retry may help; the last attempt stores the reason with the source.
 */
export async function syncSource(ctx: Deps, { sourceId }: SyncSource, attempt: Attempt): Promise<void> {
  const source = await idleSource(ctx.db, sourceId)
  if (!source) return
  if (source.link_type === 'crawl' || source.link_type === 'sitemap') return startCrawl(ctx, source)
  try {
    const loaded = await loadIfChanged(ctx, source, attempt.signal)
    if (loaded === null) await keepVersion(ctx.db, source, undefined)
    else if (source.live_version !== null && (await contentHash(loaded.chunks)) === source.content_hash)
      await keepVersion(ctx.db, source, loaded.origin)
    else await startVersion(ctx, source)
  } catch (error) {
    if (!(error instanceof TrainingFailure)) throw error
    ctx.log.warn({ err: error.cause ?? error, source: sourceId }, error.message)
    if (error instanceof OriginGone && source.live_version !== null)
      return takeOut(ctx.db, source, error.message)
    if (error.transient && !attempt.isLast(error)) throw error
    await noteFailure(ctx.db, source, error.message)
  }
}

/** Returns the source, unless it is being processed or its re-sync was switched off since it was enqueued. */
async function idleSource(db: Db, sourceId: string): Promise<SourceRow | undefined> {
  return db
    .selectFrom('sources')
    .innerJoin('agents', 'agents.id', 'sources.agent_id')
    .selectAll('sources')
    .where('sources.id', '=', sourceId)
    .where('sources.status', 'in', ['trained', 'failed'])
    .where('agents.auto_retrain', '=', true)
    .executeTakeFirst()
}
