import { type RawBuilder, sql } from 'kysely'
import { planNames, planOf } from '../../../accounts/plans/plans.ts'

const DAY_MS = 86_400_000

/** From one look to the next. */
export const WEEK_MS = 7 * DAY_MS

/** Over `agents` and `accounts`: the weekly re-sync is on, and in the plan. */
export const agentReSyncs = (): RawBuilder<boolean> => {
  const allowed = planNames.filter((name) => planOf(name).features.includes('auto-retrain'))
  return sql<boolean>`(agents.auto_retrain and accounts.plan in (${sql.join(allowed)}))`
}

/** Over `sources` besides: it has an origin that can be asked. */
export const sourceReSyncs =
  (): RawBuilder<boolean> => sql<boolean>`(${agentReSyncs()} and sources.status <> 'toBeDeleted' and (
  sources.type = 'link' or (sources.type = 'notionPage' and exists (
    select from pages_connections where pages_connections.agent_id = sources.agent_id))))`
