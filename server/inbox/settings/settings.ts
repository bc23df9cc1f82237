import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { BusinessHours, ClockTargets } from '../../platform/db/tables/helpdesk.ts'
import { refuseInvalid } from '../../platform/http/input/validate.ts'
import { minutesOf, weeklyMinutes } from '../clocks/business-time.ts'
import { isTimeZone } from '../clocks/time-zone.ts'

type Settings = {
  targets: ClockTargets
  businessHours: BusinessHours | null
  surveyEnabled: boolean
  signature: string | null
}

/** With fewer business hours, a target of a month would only be due decades later. */
const MIN_WEEKLY_MINUTES = 60

export async function readSettings(db: Db, ref: AgentRef): Promise<Settings> {
  const row = await db
    .selectFrom('helpdesk_settings')
    .select(['targets', 'business_hours', 'survey_enabled', 'signature'])
    .where(ofAgent(ref))
    .executeTakeFirst()
  return {
    targets: row?.targets ?? {},
    businessHours: row?.business_hours ?? null,
    surveyEnabled: row?.survey_enabled ?? false,
    signature: row?.signature ?? null,
  }
}

/** Returns a query for the business hours of an agent. */
export const hoursOf = ({ accountId, agentId }: AgentRef): RawBuilder<BusinessHours | null> => sql`
  select business_hours from helpdesk_settings where account_id = ${accountId}::uuid and agent_id = ${agentId}`

/** Changes the given fields; refuseHours() has already validated the hours. */
export async function updateSettings(db: Db, ref: AgentRef, change: Partial<Settings>): Promise<Settings> {
  const { targets, businessHours, surveyEnabled, signature } = change
  await db
    .insertInto('helpdesk_settings')
    .values({
      agent_id: ref.agentId,
      account_id: ref.accountId,
      targets: json(targets ?? {}),
      business_hours: json(businessHours ?? null),
      survey_enabled: surveyEnabled ?? false,
      signature: signature?.trim() || null,
    })
    .onConflict((conflict) =>
      conflict.column('agent_id').doUpdateSet({
        ...(targets === undefined ? {} : { targets: json(targets) }),
        ...(businessHours === undefined ? {} : { business_hours: json(businessHours) }),
        ...(surveyEnabled === undefined ? {} : { survey_enabled: surveyEnabled }),
        ...(signature === undefined ? {} : { signature: signature?.trim() || null }),
        updated_at: new Date(),
      }),
    )
    .execute()
  return readSettings(db, ref)
}

/** Throws VALIDATION_INVALID_BODY for impossible hours. */
export function refuseHours(hours: BusinessHours): void {
  const problems: Record<string, string> = {}
  if (!isTimeZone(hours.timeZone))
    problems['businessHours.timeZone'] = 'Must be a time zone such as Europe/Berlin.'
  for (const [day, openings] of Object.entries(hours.days)) {
    openings.forEach(({ from, to }, at) => {
      if (minutesOf(from) >= minutesOf(to)) {
        problems[`businessHours.days.${day}.${at}.to`] =
          'Must be later than `from`. Add hours after midnight to the next day.'
      }
    })
  }
  refuseInvalid(problems)
  if (weeklyMinutes(hours) < MIN_WEEKLY_MINUTES) {
    refuseInvalid({ 'businessHours.days': `Must be at least ${MIN_WEEKLY_MINUTES} minutes a week.` })
  }
}
