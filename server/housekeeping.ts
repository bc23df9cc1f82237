import { sql } from 'kysely'
import { releaseForgotten } from './accounts/plans/credits.ts'
import { abandonIdleRuns } from './actions/procedures/procedure-runs.ts'
import { sweepAttachments } from './attachments/attachments.ts'
import { dropAbandonedUploads } from './attachments/uploads.ts'
import { createMailReader, type MailReader } from './channels/email/parse/mail-reader.ts'
import { createSender, type Sender } from './channels/outbound/send-deliveries.ts'
import { channels } from './channels/registry/channels.ts'
import { answerForgotten } from './channels/replies/answer-forgotten.ts'
import { endIdle } from './channels/replies/end-idle.ts'
import type { Context } from './context.ts'
import { expireCalls } from './conversations/replies/expire-calls.ts'
import { purgeLog } from './conversations/stream/generation-log.ts'
import { closeOrphans } from './conversations/turn/close-orphans.ts'
import { asBulk } from './db/connections/lanes.ts'
import type { Db } from './db/database.ts'
import { flagBreaches } from './helpdesk/clocks/flag-breaches.ts'
import { purgeEvents } from './helpdesk/live/event-queries.ts'
import { purgeKeys } from './http/once/idempotency.ts'
import { hastenFirst } from './insights/analysis/claim-conversations.ts'
import { refreshDays } from './insights/days/refresh-days.ts'
import { purgeCandidates } from './insights/topics/proposed-labels.ts'
import { freeDeletions, resumeDeletions } from './knowledge/sources/empty-source.ts'
import { sweepSourceFiles } from './knowledge/sources/files.ts'
import { claimDueSyncs } from './knowledge/training/resync/claim-resyncs.ts'
import { planSyncs } from './knowledge/training/resync/plan-resyncs.ts'
import { planDailyMails } from './notifications/daily-mails.ts'
import { resumeErasures } from './privacy/jobs.ts'
import { sweepOldConversations, sweepOldLeads } from './privacy/retention/retention.ts'
import { dropOldSessions, dropStrangers } from './sign-in/sessions/sessions.ts'
import { dropOldIdentities } from './widget/identity/identify-visitor.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
// The most batches in one run, which keeps shutdown short; the next run continues.
const INDEX_BATCHES = 20

/** No process is still reading or handling an upload that is older. */
const LONGEST_UPLOAD_MS = 60 * MINUTE

type Hands = { sender: Sender; reader: MailReader }

type Duty = {
  /** What the duty does, which is also its name in the table of duties. */
  what: string
  everyMs: number
  /** If set, this process also runs the duty this many milliseconds after activity of its own. */
  soonMs?: number
  run(db: Db, ctx: Context, hands: Hands): Promise<unknown>
}

/** How often each process checks for due duties; no duty is due more often. */
const LOOK_MS = 5 * SECOND
/** The tolerance for checks that are not exactly on time. */
const SLACK_MS = 500

/** The periodic duties of an installation. One of its processes runs each of them, but several may do so at once. */
const DUTIES: Duty[] = [
  {
    what: 'the search index',
    everyMs: LOOK_MS,
    soonMs: SECOND,
    run: (db, ctx) => asBulk(() => ctx.indexer.run(db, INDEX_BATCHES)),
  },
  { what: 'deliveries', everyMs: LOOK_MS, soonMs: SECOND, run: (_db, _ctx, { sender }) => sender.tick() },
  { what: 'jobs of dead processes', everyMs: LOOK_MS, run: (_db, ctx) => ctx.jobs.revive() },
  { what: 'mailboxes', everyMs: 5 * SECOND, run: (_db, _ctx, { reader }) => reader.tick() },
  { what: 'unanswered customers', everyMs: 20 * SECOND, run: (_db, ctx) => answerForgotten(ctx) },
  { what: 'idle conversations', everyMs: MINUTE, run: (db) => endIdle(db) },
  {
    what: 'files without a message',
    everyMs: 60 * MINUTE,
    run: (db, ctx) => sweepAttachments(db, ctx.filesDir),
  },
  {
    what: 'files without a source',
    everyMs: 60 * MINUTE,
    run: (db, ctx) => sweepSourceFiles(db, ctx.filesDir),
  },
  {
    what: 'broken uploads',
    everyMs: 60 * MINUTE,
    run: (_db, ctx) => ctx.uploads.sweep(LONGEST_UPLOAD_MS),
  },
  { what: 'targets of tickets', everyMs: 20 * SECOND, run: (_db, ctx) => flagBreaches(ctx) },
  { what: 'old events of help desks', everyMs: 10 * MINUTE, run: purgeEvents },
  { what: 'forsaken uploads', everyMs: 60 * MINUTE, run: dropAbandonedUploads },
  { what: 'orphaned generations', everyMs: 5 * SECOND, run: (_db, ctx) => closeOrphans(ctx) },
  { what: 'forgotten reservations', everyMs: MINUTE, run: releaseForgotten },
  { what: 'sources that are being deleted', everyMs: 10 * SECOND, run: (_db, ctx) => resumeDeletions(ctx) },
  { what: 'due re-syncs', everyMs: MINUTE, run: (_db, ctx) => claimDueSyncs(ctx) },
  { what: 'planning of re-syncs', everyMs: 10 * MINUTE, run: (db) => planSyncs(db) },
  {
    what: 'conversations to look at',
    everyMs: 10 * SECOND,
    run: (_db, ctx) => asBulk(() => hastenFirst(ctx)),
  },
  {
    what: 'figures of days',
    everyMs: 2 * LOOK_MS,
    soonMs: 2 * SECOND,
    run: (db) => asBulk(() => refreshDays(db)),
  },
  { what: 'daily mails', everyMs: 10 * MINUTE, run: (_db, ctx) => planDailyMails(ctx) },
  { what: 'old candidates of topics', everyMs: 60 * MINUTE, run: purgeCandidates },
  { what: 'expired actions', everyMs: MINUTE, run: expireCalls },
  { what: 'idle procedures', everyMs: 10 * MINUTE, run: abandonIdleRuns },
  { what: 'old logs of generations', everyMs: 60 * MINUTE, run: purgeLog },
  { what: 'old conversations', everyMs: MINUTE, run: (_db, ctx) => sweepOldConversations(ctx) },
  { what: 'old leads', everyMs: MINUTE, run: (_db, ctx) => sweepOldLeads(ctx) },
  { what: 'forsaken erasures', everyMs: MINUTE, run: (_db, ctx) => resumeErasures(ctx) },
  { what: 'visitors who were signed in', everyMs: 60 * MINUTE, run: dropOldIdentities },
  { what: 'ended sessions', everyMs: 60 * MINUTE, run: dropOldSessions },
  { what: 'refused sign-ins of strangers', everyMs: 10 * MINUTE, run: (db) => dropStrangers(db) },
  { what: 'old idempotency keys', everyMs: 60 * MINUTE, run: purgeKeys },
]

/**
 * Runs every duty once, and from then on this process's share of the installation's duties. Returns a function that
 * stops it.
 */
export async function keepHouse(ctx: Context): Promise<() => Promise<void>> {
  const { db, embedded, availability, activity, log } = ctx
  const report = (what: string) => (error: unknown) => log.error({ err: error }, what)
  const closeAll = (): Promise<unknown> => closeOrphans(ctx).catch(report('orphaned generations'))
  ctx.process.onDeath(() => void closeAll())
  // With the embedded database, no other process can be running what the last process left.
  await closeAll()
  if (embedded) await freeDeletions(db).catch(report('sources that are being deleted'))
  await ctx.uploads.sweep(embedded ? 0 : LONGEST_UPLOAD_MS).catch(report('broken uploads'))
  const hands = { sender: createSender(ctx, channels), reader: createMailReader(ctx) }
  const running = new Map<string, Promise<unknown>>()
  const once = ({ what, run }: Duty): void => {
    if (running.has(what) || availability.isAway()) return
    const done = run(db, ctx, hands)
      .catch(report(what))
      .finally(() => running.delete(what))
    running.set(what, done)
  }
  const look = async (all = false): Promise<void> => {
    if (availability.isAway()) return
    const due = await claimDuties(db, all).catch(report('duties'))
    for (const duty of DUTIES) if (due?.has(duty.what)) once(duty)
  }
  const soon = new Map<Duty, NodeJS.Timeout>()
  const schedule = (duty: Duty, afterMs: number): void => {
    const later = (): void => {
      soon.delete(duty)
      once(duty)
    }
    if (!soon.has(duty)) soon.set(duty, setTimeout(later, afterMs))
  }
  const forget = [
    activity.onNote(() => {
      for (const duty of DUTIES) if (duty.soonMs) schedule(duty, duty.soonMs)
    }),
    availability.onChange(() => void look()),
  ]
  const timers = [setTimeout(look, SECOND, true), setInterval(look, LOOK_MS)]
  return async () => {
    for (const stop of forget) stop()
    for (const timer of [...timers, ...soon.values()]) clearTimeout(timer)
    await Promise.all([...running.values(), hands.sender.idle(), hands.reader.close()])
  }
}

/** Claims the duties that are due, or `all` of them, for this process and returns their names. */
async function claimDuties(db: Db, all: boolean): Promise<Set<string>> {
  const names = DUTIES.map(({ what }) => what)
  const everyMs = DUTIES.map(({ everyMs }) => everyMs)
  if (all)
    await sql`insert into duties (name) select unnest(${names}::text[]) on conflict (name) do nothing`.execute(
      db,
    )
  const { rows } = await sql<{ name: string }>`
    update duties set next_at = now() + wanted.every_ms * interval '1 millisecond'
    from unnest(${names}::text[], ${everyMs}::integer[]) as wanted (name, every_ms)
    where duties.name = wanted.name
      and (${all}::boolean or next_at <= now() + ${SLACK_MS}::integer * interval '1 millisecond')
    returning duties.name`.execute(db)
  return new Set(rows.map(({ name }) => name))
}
