import { abandonIdleRuns } from './actions/procedure-runs.ts'
import { sweepAttachments } from './attachments/attachments.ts'
import { answerForgotten } from './channels/answer-forgotten.ts'
import { channels } from './channels/channels.ts'
import { createMailReader, type MailReader } from './channels/email/mail-reader.ts'
import { endIdle } from './channels/end-idle.ts'
import { createSender, type Sender } from './channels/send-deliveries.ts'
import type { Context } from './context.ts'
import { closeOrphans } from './conversations/close-orphans.ts'
import { expireCalls } from './conversations/expire-calls.ts'
import { purgeFrames } from './conversations/frame-publisher.ts'
import type { Db } from './db/database.ts'
import { flagBreaches } from './helpdesk/clocks/flag-breaches.ts'
import { purgeEvents } from './helpdesk/live/event-queries.ts'
import { dropForsakenUploads } from './helpdesk/uploads.ts'
import { purgeKeys } from './http/idempotency.ts'
import { claimConversations } from './insights/analysis/claim-conversations.ts'
import { refreshDays } from './insights/days/refresh-days.ts'
import { purgeCandidates } from './insights/topics/proposed-labels.ts'
import { freeDeletions, resumeDeletions } from './knowledge/empty-source.ts'
import { claimDueSyncs } from './knowledge/sync/claim-syncs.ts'
import { planSyncs } from './knowledge/sync/plan-syncs.ts'
import { sweepOldConversations, sweepOldLeads } from './privacy/retention.ts'
import { resumeErasures } from './privacy/tasks.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
// Keeps the wait at the end of the process short; the next second goes on.
const INDEX_BATCHES = 20

type Hands = { sender: Sender; reader: MailReader }

type Duty = { what: string; everyMs: number; run(db: Db, ctx: Context, hands: Hands): Promise<unknown> }

/** What every process does from time to time; each is safe to be done by several at once. */
const DUTIES: Duty[] = [
  { what: 'the search index', everyMs: SECOND, run: (db, ctx) => ctx.indexer.run(db, INDEX_BATCHES) },
  { what: 'deliveries', everyMs: SECOND, run: (_db, _ctx, { sender }) => sender.tick() },
  { what: 'mailboxes', everyMs: 5 * SECOND, run: (_db, _ctx, { reader }) => reader.tick() },
  { what: 'unanswered customers', everyMs: 20 * SECOND, run: (_db, ctx) => answerForgotten(ctx) },
  { what: 'idle conversations', everyMs: MINUTE, run: (db) => endIdle(db) },
  {
    what: 'files without a message',
    everyMs: 60 * MINUTE,
    run: (db, ctx) => sweepAttachments(db, ctx.filesDir),
  },
  { what: 'targets of tickets', everyMs: 20 * SECOND, run: (_db, ctx) => flagBreaches(ctx) },
  { what: 'old events of help desks', everyMs: 10 * MINUTE, run: purgeEvents },
  { what: 'forsaken uploads', everyMs: 60 * MINUTE, run: dropForsakenUploads },
  { what: 'orphaned generations', everyMs: 5 * SECOND, run: (db) => closeOrphans(db, { all: false }) },
  { what: 'sources that are being deleted', everyMs: 10 * SECOND, run: (_db, ctx) => resumeDeletions(ctx) },
  { what: 'due re-syncs', everyMs: MINUTE, run: (_db, ctx) => claimDueSyncs(ctx) },
  { what: 'planning of re-syncs', everyMs: 10 * MINUTE, run: (db) => planSyncs(db) },
  { what: 'conversations to look at', everyMs: 10 * SECOND, run: (_db, ctx) => claimConversations(ctx) },
  { what: 'figures of days', everyMs: 2 * SECOND, run: (db) => refreshDays(db) },
  { what: 'old candidates of topics', everyMs: 60 * MINUTE, run: purgeCandidates },
  { what: 'expired actions', everyMs: MINUTE, run: expireCalls },
  { what: 'idle procedures', everyMs: 10 * MINUTE, run: abandonIdleRuns },
  { what: 'old stream frames', everyMs: 10 * MINUTE, run: purgeFrames },
  { what: 'old conversations', everyMs: MINUTE, run: (_db, ctx) => sweepOldConversations(ctx) },
  { what: 'old leads', everyMs: MINUTE, run: (_db, ctx) => sweepOldLeads(ctx) },
  { what: 'forsaken erasures', everyMs: MINUTE, run: (_db, ctx) => resumeErasures(ctx) },
  { what: 'old idempotency keys', everyMs: 60 * MINUTE, run: purgeKeys },
]

/** Does each duty once and then again and again, never twice at a time; answers how to stop. */
export async function keepHouse(ctx: Context): Promise<() => Promise<void>> {
  const { db, embedded, log } = ctx
  const report = (what: string) => (error: unknown) => log.error({ err: error }, what)
  // With the embedded database nobody else can be running what the last process left.
  await closeOrphans(db, { all: embedded }).catch(report('orphaned generations'))
  if (embedded) await freeDeletions(db).catch(report('sources that are being deleted'))
  const hands = { sender: createSender(ctx, channels), reader: createMailReader(ctx) }
  const running = new Map<string, Promise<unknown>>()
  const timers = DUTIES.flatMap(({ what, everyMs, run }) => {
    const once = (): void => {
      if (running.has(what)) return
      const done = run(db, ctx, hands)
        .catch(report(what))
        .finally(() => running.delete(what))
      running.set(what, done)
    }
    return [setTimeout(once, SECOND), setInterval(once, everyMs)]
  })
  return async () => {
    for (const timer of timers) clearInterval(timer)
    await Promise.all([...running.values(), hands.sender.idle(), hands.reader.close()])
  }
}
