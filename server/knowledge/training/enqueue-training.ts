import type { Trx } from '../../platform/db/database.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { isCrawl } from '../crawl/run/crawl-source.ts'
import { enqueueCrawl } from '../crawl/run/enqueue-crawl.ts'
import { isSmall } from '../documents/extractor.ts'
import type { SourceRow } from '../sources/queries.ts'
import { sizeOf } from '../sources/storage-limit.ts'

/** The background job that makes this version of a source live, or does nothing when there is a newer one. */
export const TRAIN_SOURCE = 'train-source'
/** The same for sources that are small, which therefore wait for no large one. */
export const TRAIN_SMALL_SOURCE = 'train-small-source'

export type TrainSource = { sourceId: string; version: number }

type Sized = Pick<SourceRow, 'type' | 'content'>

/** Returns the task that trains a source. How much a link or a connected page holds is not known. */
export function trainingTask({ type, content }: Sized): typeof TRAIN_SOURCE | typeof TRAIN_SMALL_SOURCE {
  if (type === 'link' || type === 'notionPage') return TRAIN_SOURCE
  const { text, answer, questions = [], bytes } = content
  const size = type === 'file' ? bytes : sizeOf(text ?? '', answer ?? '', ...questions)
  return size !== undefined && isSmall(size) ? TRAIN_SMALL_SOURCE : TRAIN_SOURCE
}

/**
 * Enqueues the job that makes a source's current version live: a crawl for a website, a training for anything else.
 */
export async function enqueueTraining(
  jobs: Pick<Jobs, 'enqueue'>,
  trx: Trx,
  row: Pick<SourceRow, 'id' | 'account_id' | 'link_type' | 'content_version'> & Sized,
  reason: 'created' | 'resumed' = 'created',
): Promise<void> {
  if (isCrawl(row)) await enqueueCrawl(jobs, trx, { accountId: row.account_id, sourceId: row.id, reason })
  else {
    const payload = { sourceId: row.id, version: row.content_version }
    await jobs.enqueue<TrainSource>(trx, trainingTask(row), payload, 0, row.account_id)
  }
}
