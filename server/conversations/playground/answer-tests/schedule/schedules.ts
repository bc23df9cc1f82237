import { type Selectable, sql } from 'kysely'
import type { Static } from 'typebox'
import { accountOf } from '../../../../accounts/records/accounts.ts'
import { requireAgent } from '../../../../agents/records/find-agent.ts'
import type { Context } from '../../../../context.ts'
import type { Db, Trx } from '../../../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../../../platform/db/refs.ts'
import { json } from '../../../../platform/db/statements/json.ts'
import { transact } from '../../../../platform/db/statements/transact.ts'
import type { AccountId } from '../../../../platform/db/tables/columns.ts'
import type { AnswerSchedulesTable } from '../../../../platform/db/tables/conversations.ts'
import { ApiError } from '../../../../platform/http/errors.ts'
import { versionToAnswer } from '../../drafts/drafts.ts'
import { casesToRun, copyOf } from '../cases/cases.ts'
import { requireModel, startRun } from '../runs.ts'
import type { AnswerSchedule, NewAnswerSchedule } from './schema.ts'

type Settings = Static<typeof NewAnswerSchedule>
type ScheduleRow = Omit<Selectable<AnswerSchedulesTable>, 'settings'> & { settings: Settings }
type Needs = Pick<Context, 'jobs' | 'models'>

const DAY_MS = 24 * 3_600_000
/** How long a scheduled test waits for one that is running. */
const WAIT_MS = 600_000

export async function scheduleOf(db: Db, ref: AgentRef): Promise<ScheduleRow | undefined> {
  const row = await db.selectFrom('answer_schedules').selectAll().where(ofAgent(ref)).executeTakeFirst()
  return row as ScheduleRow | undefined
}

/** Sets when the answers of an agent are tested. Throws VALIDATION_INVALID_BODY, CHAT_MODEL_NOT_ALLOWED and RESOURCE_NOT_FOUND. */
export async function setSchedule(
  trx: Trx,
  { models }: Pick<Needs, 'models'>,
  ref: AgentRef,
  settings: Settings,
  now = new Date(),
): Promise<ScheduleRow> {
  await requireAgent(trx, ref, 'share')
  const { plan } = await accountOf(trx, ref.accountId)
  const { model } = await versionToAnswer(trx, ref, settings.version ?? 'live')
  requireModel(models, { plan, model }, settings)
  await casesToRun(trx, ref, settings.caseIds)
  const set = { settings: json(settings), next_at: nextTime(settings, now), updated_at: now }
  const row = await trx
    .insertInto('answer_schedules')
    .values({ agent_id: ref.agentId, account_id: ref.accountId, ...set })
    .onConflict((conflict) =>
      conflict.column('agent_id').doUpdateSet(set).where('answer_schedules.account_id', '=', ref.accountId),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
  return row as ScheduleRow
}

export async function removeSchedule(db: Db, ref: AgentRef): Promise<void> {
  await db.deleteFrom('answer_schedules').where(ofAgent(ref)).execute()
}

/** Returns the next time of a schedule, in UTC; those of weeks are on Mondays. */
export function nextTime({ every, hour }: Pick<Settings, 'every' | 'hour'>, after: Date): Date {
  const next = new Date(after)
  next.setUTCHours(hour, 0, 0, 0)
  while (next <= after || (every === 'week' && next.getUTCDay() !== 1)) next.setTime(next.getTime() + DAY_MS)
  return next
}

/** Starts the tests that are due, one after the other, however many processes do so. Returns how many were due. */
export async function startScheduledRuns(
  ctx: Needs & Pick<Context, 'db'>,
  now = new Date(),
): Promise<number> {
  let due = 0
  while (await transact(ctx.db, (trx) => startDue(trx, ctx, now))) due++
  return due
}

async function startDue(trx: Trx, needs: Needs, now: Date): Promise<boolean> {
  const row = (await trx
    .selectFrom('answer_schedules')
    .selectAll()
    .where('next_at', '<=', now)
    .orderBy('next_at')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()) as ScheduleRow | undefined
  if (!row) return false
  const ref = { accountId: row.account_id, agentId: row.agent_id }
  const { every, hour, alertBelow: _, caseIds, ...settings } = row.settings
  const next = nextTime({ every, hour }, now)
  try {
    await requireAgent(trx, ref)
    const { plan } = await accountOf(trx, ref.accountId)
    const wanted = caseIds && new Set(caseIds)
    const rows = (await casesToRun(trx, ref, undefined)).filter(({ id }) => !wanted || wanted.has(id))
    const run = { ...settings, note: '', isScheduled: true }
    const id = await startRun(trx, needs, { ref, plan }, rows.map(copyOf), run)
    await change(trx, ref, { next_at: next, last_run_id: id })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const isBusy = error.code === 'RESOURCE_DUPLICATE'
    await change(trx, ref, { next_at: isBusy ? new Date(now.getTime() + WAIT_MS) : next })
    if (!isBusy) await noteAlert(trx, ref, `The scheduled test could not be started. ${sentencesOf(error)}`)
  }
  return true
}

const sentencesOf = ({ message, details }: ApiError): string =>
  details ? Object.values(details).join(' ') : message

/** Sets the alert of the schedule, of which people are told by mail, or removes it. */
export const noteAlert = (trx: Trx, ref: AgentRef, alert: string | null): Promise<void> =>
  change(trx, ref, { alert, is_told: alert === null })

type Change = Partial<Pick<ScheduleRow, 'next_at' | 'last_run_id' | 'alert' | 'is_told'>>

async function change(trx: Trx, ref: AgentRef, set: Change): Promise<void> {
  await trx.updateTable('answer_schedules').set(set).where(ofAgent(ref)).execute()
}

type UntoldAlert = { accountId: AccountId; agentId: string; name: string; alert: string }

/** Returns the alerts of which nobody was told yet; whoever commits tells people of them. */
export async function takeUntoldAlerts(trx: Trx): Promise<UntoldAlert[]> {
  const { rows } = await sql<UntoldAlert>`
    with untold as (
      select schedule.agent_id, agents.name from answer_schedules as schedule
      join agents on agents.id = schedule.agent_id and agents.account_id = schedule.account_id
      where not schedule.is_told order by schedule.agent_id limit 100 for update of schedule skip locked)
    update answer_schedules as schedule set is_told = true from untold
    where schedule.agent_id = untold.agent_id
    returning schedule.account_id as "accountId", schedule.agent_id as "agentId", untold.name, schedule.alert`.execute(
    trx,
  )
  return rows
}

export function presentSchedule(row: ScheduleRow): Static<typeof AnswerSchedule> {
  return {
    ...row.settings,
    nextAt: row.next_at.toISOString(),
    lastRunId: row.last_run_id,
    alert: row.alert,
  }
}
