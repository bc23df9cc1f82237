import { type RawBuilder, sql } from 'kysely'
import { planNames, planOf } from '../../../accounts/plans/plans.ts'

const DAY_MS = 86_400_000

/** The time between two checks. */
export const WEEK_MS = 7 * DAY_MS

/** A condition on `agents` and `accounts`: the weekly re-sync is switched on and part of the plan. */
export const agentReSyncs = (): RawBuilder<boolean> => {
  const allowed = planNames.filter((name) => planOf(name).features.includes('auto-retrain'))
  return sql<boolean>`(agents.auto_retrain and accounts.plan in (${sql.join(allowed)}))`
}

/** A condition on `sources`: the source has an origin that can be requested. */
export const sourceReSyncs =
  (): RawBuilder<boolean> => sql<boolean>`(${agentReSyncs()} and sources.status <> 'toBeDeleted' and (
  sources.type = 'link' or (sources.type = 'notionPage' and exists (
    select from pages_connections where pages_connections.agent_id = sources.agent_id))))`
