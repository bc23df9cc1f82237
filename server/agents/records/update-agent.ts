import type { Updateable } from 'kysely'
import type { Static } from 'typebox'
import type { Db } from '../../platform/db/database.ts'
import { type AgentRef, ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AgentsTable } from '../../platform/db/tables/agents.ts'
import { changesInstructions, keepVersion } from '../versions/instruction-versions.ts'
import { DEFAULT_AI_NOTICE, DEFAULT_RATE_LIMITS } from './defaults.ts'
import { type AgentRow, requireAgent } from './find-agent.ts'
import type { UpdateAgent } from './schema.ts'

type Fields = Static<typeof UpdateAgent>
/** The fields to change; those that are undefined stay as they are. */
export type AgentChange = { [F in keyof Fields]?: Fields[F] | undefined }

/**
 * Applies the fields that were sent. The row is locked, so that two partial changes of ipRateLimits or aiNotice both take effect.
 * If the change affects what the agent is told, a new version of that is stored under the name of `actor`.
 */
export async function updateAgent(
  db: Db,
  { accountId, agentId }: AgentRef,
  change: AgentChange,
  actor: string,
): Promise<void> {
  await transact(db, async (trx) => {
    const before = await requireAgent(trx, { accountId, agentId }, 'update')
    const columns = columnsOf(change, before)
    if (Object.keys(columns).length === 0) return
    const now = await trx
      .updateTable('agents')
      .set({ ...columns, updated_at: new Date() })
      .where(ownRow(accountId, agentId))
      .returningAll()
      .executeTakeFirstOrThrow()
    if (changesInstructions(columns)) await keepVersion(trx, before, now, actor)
  })
}

function columnsOf(
  change: AgentChange,
  { ip_rate_limits: rateLimits, ai_notice: notice }: AgentRow,
): Updateable<AgentsTable> {
  const columns: Updateable<AgentsTable> = {}
  if (change.name !== undefined) columns.name = change.name
  if (change.instructions !== undefined) columns.instructions = change.instructions
  if (change.model !== undefined) columns.model = change.model
  if (change.temp !== undefined) columns.temp = change.temp
  if (change.visibility !== undefined) columns.visibility = change.visibility
  if (change.creditLimit !== undefined) columns.credit_limit = change.creditLimit
  if (change.channelInstructions !== undefined)
    columns.channel_instructions = json(change.channelInstructions)
  if (change.allowedDomains !== undefined) columns.allowed_domains = json(change.allowedDomains)
  if (change.suggestedMessages !== undefined) columns.suggested_messages = json(change.suggestedMessages)
  if (change.initialMessages !== undefined) columns.initial_messages = json(change.initialMessages)
  if (change.notificationsSettings !== undefined)
    columns.notifications_settings = json(change.notificationsSettings)
  if (change.spamSettings !== undefined) columns.spam_settings = json(change.spamSettings)
  if (change.blockedCountries !== undefined) columns.blocked_countries = json(change.blockedCountries)
  if (change.voiceSettings !== undefined) columns.voice_settings = json(change.voiceSettings)
  if (change.ipRateLimits !== undefined) {
    columns.ip_rate_limits = json(
      change.ipRateLimits ? { ...rateLimits, ...change.ipRateLimits } : DEFAULT_RATE_LIMITS,
    )
  }
  if (change.aiNotice !== undefined) {
    columns.ai_notice = json(change.aiNotice && { ...(notice ?? DEFAULT_AI_NOTICE), ...change.aiNotice })
  }
  return columns
}
