import { EMPTY_AGENT, type EmptyAgent } from '../../agents/jobs.ts'
import type { Context } from '../../context.ts'
import { stopGeneration } from '../../conversations/turn/generations.ts'
import { readSetting, writeSetting } from '../../platform/db/settings.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { removeDeleted } from '../../platform/db/upkeep/vacuum.ts'
import type { Task } from '../../platform/jobs/jobs.ts'
import type { RecurringJob } from '../../platform/jobs/recurring-jobs.ts'
import { emptyAgent } from './erasing/empty-agent.ts'
import { eraseUser } from './erasing/erase-user.ts'
import { claimAbandonedErasures } from './erasing/erasures.ts'
import { sweepOldAnswerRuns, sweepOldConversations, sweepOldLeads } from './retention/retention.ts'

export const ERASE_USER = 'erase-user'
/** The payload does not name the person, because jobs are kept for a while after their end. */
export type EraseUser = { accountId: AccountId; erasureId: string }

type Deps = Pick<Context, 'db' | 'jobs' | 'log' | 'generations' | 'orphans' | 'notifier'>

const erasing = (ctx: Deps): Task<EraseUser> => ({
  name: ERASE_USER,
  concurrency: 1,
  retries: 10,
  async run({ accountId, erasureId }) {
    const stop = (account: AccountId, conversationId: string) => stopGeneration(ctx, account, conversationId)
    const { person: _nobody, ...erased } = await eraseUser(
      { db: ctx.db, jobs: ctx.jobs, stop },
      { account_id: accountId, id: erasureId },
    )
    ctx.log.info(erased, 'an end user was erased')
  },
})

const emptying = (ctx: Deps): Task<EmptyAgent> => ({
  name: EMPTY_AGENT,
  concurrency: 1,
  retries: 10,
  run: (payload) => emptyAgent(ctx, payload),
})

export const privacyJobs = (ctx: Deps): Task<never>[] => [erasing(ctx), emptying(ctx)]

/** Enqueues the erasures that a process or a command started and did not finish. */
export async function resumeErasures({ db, jobs }: Pick<Context, 'db' | 'jobs'>): Promise<void> {
  await transact(db, async (trx) => {
    for (const { id, account_id } of await claimAbandonedErasures(trx))
      await jobs.enqueue<EraseUser>(trx, ERASE_USER, { accountId: account_id, erasureId: id })
  })
}

const MINUTE = 60_000

/** The setting with the time at which deleted rows were last removed. */
const REMOVED = 'deleted-rows-removed'
const QUIET_MS = MINUTE
/** How many hours it waits for a quiet minute; after the 20 hours between two runs, a day has not passed then. */
const MAX_WAITS = 3

/** Returns the recurring job that removes deleted rows from the files once a day, if possible in a quiet minute. */
function removingDeleted({
  db,
  embedded,
  activity,
}: Pick<Context, 'db' | 'embedded' | 'activity'>): RecurringJob {
  let postponed = 0
  return {
    what: 'deleted rows in files',
    everyMs: 60 * MINUTE,
    async run() {
      const last = String((await readSetting(db, REMOVED)) ?? '')
      if (Date.now() - Date.parse(last || '1970') < 20 * 60 * MINUTE) return
      if (performance.now() - activity.lastAt() < QUIET_MS && postponed++ < MAX_WAITS) return
      postponed = 0
      await removeDeleted(db, embedded)
      await writeSetting(db, REMOVED, new Date().toISOString())
    },
  }
}

export const privacyRecurringJobs = (
  ctx: Pick<Context, 'activity' | 'db' | 'embedded' | 'jobs' | 'log'>,
): RecurringJob[] => [
  removingDeleted(ctx),
  { what: 'old conversations', everyMs: MINUTE, run: () => sweepOldConversations(ctx) },
  { what: 'old tests of answers', everyMs: MINUTE, run: () => sweepOldAnswerRuns(ctx) },
  { what: 'old leads', everyMs: MINUTE, run: () => sweepOldLeads(ctx) },
  { what: 'interrupted erasures', everyMs: MINUTE, run: () => resumeErasures(ctx) },
]
