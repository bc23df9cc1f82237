import { type SqlBool, sql } from 'kysely'
import type { Context } from '../context.ts'
import { transact } from '../platform/db/statements/transact.ts'
import type { Task } from '../platform/jobs/jobs.ts'
import type { RecurringJob } from '../platform/jobs/recurring-jobs.ts'
import { freeClaims } from './crawl/run/claim-pages.ts'
import { crawlSite } from './crawl/run/crawl-site.ts'
import { CRAWL_SITE, type CrawlSite } from './crawl/run/enqueue-crawl.ts'
import { enqueueIndexing, INDEX_WORDS, type IndexWords, indexWords } from './search/index-words.ts'
import { freeDeletions, resumeDeletions } from './sources/empty-source.ts'
import { sweepSourceFiles } from './sources/files.ts'
import { GATHER_TICKETS, type GatherTickets, gatherTickets } from './tickets/gather-tickets.ts'
import {
  enqueueTraining,
  TRAIN_SMALL_SOURCE,
  TRAIN_SOURCE,
  type TrainSource,
} from './training/enqueue-training.ts'
import { claimDueSyncs, SYNC_SOURCE, type SyncSource } from './training/resync/claim-resyncs.ts'
import { planSyncs } from './training/resync/plan-resyncs.ts'
import { syncSource } from './training/resync/resync-source.ts'
import { trainSource } from './training/train-source.ts'
import { FILL_SPACE, type FillSpace, fillSpace, tendSpaces } from './vectors/fill-space.ts'

const training = (ctx: Parameters<typeof trainSource>[0], name: string): Task<TrainSource> => ({
  name,
  bulk: true,
  concurrency: 4,
  share: 3,
  retries: 3,
  run: (payload, attempt) => trainSource(ctx, payload, attempt),
})

const crawling = (ctx: Parameters<typeof crawlSite>[0]): Task<CrawlSite> => ({
  name: CRAWL_SITE,
  bulk: true,
  concurrency: 3,
  share: 2,
  retries: 3,
  run: (payload, attempt) => crawlSite(ctx, payload, attempt),
})

const filling = (ctx: Pick<Context, 'db' | 'jobs' | 'log' | 'models'>): Task<FillSpace> => ({
  name: FILL_SPACE,
  bulk: true,
  concurrency: 1,
  // The delays grow, because a provider may be unavailable for hours.
  retries: 15,
  run: (payload, attempt) => fillSpace(ctx, payload, attempt),
})

const indexing = (ctx: Pick<Context, 'db' | 'log'>): Task<IndexWords> => ({
  name: INDEX_WORDS,
  bulk: true,
  concurrency: 1,
  retries: 3,
  run: (payload, attempt) => indexWords(ctx, payload, attempt),
})

const syncing = (ctx: Parameters<typeof syncSource>[0]): Task<SyncSource> => ({
  name: SYNC_SOURCE,
  bulk: true,
  concurrency: 2,
  retries: 3,
  run: (payload, attempt) => syncSource(ctx, payload, attempt),
})

const gathering = (ctx: Pick<Context, 'db' | 'jobs' | 'log' | 'solvedTickets'>): Task<GatherTickets> => ({
  name: GATHER_TICKETS,
  bulk: true,
  concurrency: 1,
  retries: 3,
  run: (payload) => gatherTickets(ctx, payload),
})

export const knowledgeJobs = (
  ctx: Pick<
    Context,
    | 'db'
    | 'embedded'
    | 'extractor'
    | 'fetcher'
    | 'filesDir'
    | 'jobs'
    | 'log'
    | 'models'
    | 'ocr'
    | 'process'
    | 'renderer'
    | 'secrets'
    | 'solvedTickets'
  >,
): Task<never>[] => [
  training(ctx, TRAIN_SOURCE),
  training(ctx, TRAIN_SMALL_SOURCE),
  crawling(ctx),
  filling(ctx),
  indexing(ctx),
  syncing(ctx),
  gathering(ctx),
]

/**
 * Enqueues every source that is to be processed and has no job, as after a restored backup. The job of a process that
 * has died is free by itself; with a second one, one crash of the reader would count as two.
 */
export async function resumeTraining({
  db,
  jobs,
  embedded,
}: Pick<Context, 'db' | 'jobs' | 'embedded'>): Promise<number> {
  // With the embedded database nobody else can be reading what the last process had claimed.
  if (embedded) await freeClaims(db)
  const waiting = await db
    .selectFrom('sources')
    .select(['id', 'account_id', 'link_type', 'content_version', 'type', 'content'])
    .where('status', 'in', ['untrained', 'updated'])
    .where(
      sql<SqlBool>`not exists (select from jobs where payload ->> 'sourceId' = sources.id::text
        and payload ->> 'version' = sources.content_version::text
        and (task in (${TRAIN_SOURCE}, ${TRAIN_SMALL_SOURCE}) or task = ${CRAWL_SITE} and payload ->> 'chain' is not null))`,
    )
    .execute()
  for (const row of waiting) await transact(db, (trx) => enqueueTraining(jobs, trx, row, 'resumed'))
  return waiting.length
}

const MINUTE = 60_000

export const knowledgeRecurringJobs = (
  ctx: Pick<Context, 'db' | 'embedded' | 'filesDir' | 'jobs' | 'models'>,
): RecurringJob[] => [
  {
    what: 'words of sources that a former version has trained',
    everyMs: 10 * MINUTE,
    run: () => enqueueIndexing(ctx),
  },
  { what: 'vectors of the embedding model', everyMs: MINUTE, run: () => tendSpaces(ctx) },
  { what: 'files without a source', everyMs: 60 * MINUTE, run: () => sweepSourceFiles(ctx.db, ctx.filesDir) },
  {
    what: 'sources that are being deleted',
    everyMs: 10_000,
    run: () => resumeDeletions(ctx),
    // With the embedded database no other process can be deleting what the last process left.
    atStart: async () => {
      if (ctx.embedded) await freeDeletions(ctx.db)
    },
  },
  { what: 'due re-syncs', everyMs: MINUTE, run: () => claimDueSyncs(ctx) },
  { what: 'planning of re-syncs', everyMs: 10 * MINUTE, run: () => planSyncs(ctx.db) },
]
