import type { Context } from '../../context.ts'
import type { Task } from '../../platform/jobs/jobs.ts'
import { READ_NUMBERS, type ReadNumbers } from './connection/connection.ts'
import { readNumbersOf } from './connection/numbers.ts'
import { fetchFiles } from './inbound/fetch-files.ts'
import { FETCH_FILES, type FetchFiles } from './inbound/take-message.ts'

const readingNumbers = (ctx: Pick<Context, 'db' | 'fetcher' | 'secrets'>): Task<ReadNumbers> => ({
  name: READ_NUMBERS,
  concurrency: 1,
  retries: 6,
  run: ({ agentId }, { signal }) => readNumbersOf(ctx, agentId, signal),
})

const fetchingFiles = (
  ctx: Pick<Context, 'db' | 'fetcher' | 'filesDir' | 'log' | 'notifier' | 'secrets'>,
): Task<FetchFiles> => ({
  name: FETCH_FILES,
  concurrency: 2,
  // With the growing delays between them, the retries take more than an hour.
  retries: 12,
  run: (payload, attempt) => fetchFiles(ctx, payload, attempt),
})

export const messagingJobs = (
  ctx: Pick<Context, 'db' | 'fetcher' | 'filesDir' | 'log' | 'notifier' | 'secrets'>,
): Task<never>[] => [readingNumbers(ctx), fetchingFiles(ctx)]
