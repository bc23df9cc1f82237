import type { Context } from '../context.ts'
import type { Task } from '../jobs/jobs.ts'
import { trainSource } from './train-source.ts'
import { TRAIN_SOURCE, type TrainSource } from './train-task.ts'

const training = (ctx: Context): Task<TrainSource> => ({
  name: TRAIN_SOURCE,
  concurrency: 4,
  retries: 3,
  run: (payload, attempt) => trainSource(ctx, payload, attempt),
})

export const knowledgeTasks = (ctx: Context): Task<never>[] => [training(ctx) as Task<never>]

/**
 * Enqueues every source that was being processed. A job that a killed process held would come back only after
 * its heartbeat is missed; a second job for the same version does no harm.
 */
export async function resumeTraining({ db, jobs }: Pick<Context, 'db' | 'jobs'>): Promise<number> {
  const waiting = await db
    .selectFrom('sources')
    .select(['id', 'content_version'])
    .where('status', 'in', ['untrained', 'updated'])
    .execute()
  for (const { id, content_version } of waiting) {
    await jobs.enqueue<TrainSource>(db, TRAIN_SOURCE, { sourceId: id, version: content_version })
  }
  return waiting.length
}
