import { recordAudit } from '../accounts/audit.ts'
import type { Db } from '../db/database.ts'
import { newAgentId } from '../db/ids.ts'
import { json } from '../db/json.ts'
import type { AccountId } from '../db/tables.ts'
import { ApiError } from '../http/errors.ts'
import type { AgentHooks } from './hooks.ts'
import { takePlace } from './take-place.ts'

const SUFFIX = ' (copy)'

/** Copies an agent with its sources, all or nothing; answers the copy's id. */
export async function cloneAgent(
  db: Db,
  account: { id: AccountId; plan: string },
  actor: string,
  agentId: string,
  copySources: AgentHooks['copySources'],
): Promise<string> {
  const id = newAgentId()
  await db.transaction().execute(async (trx) => {
    await takePlace(trx, account)
    const source = await trx
      .selectFrom('agents')
      .selectAll()
      .where('account_id', '=', account.id)
      .where('id', '=', agentId)
      .forShare()
      .executeTakeFirst()
    if (!source) throw new ApiError('AGENT_NOT_FOUND')
    await trx
      .insertInto('agents')
      .values({
        ...source,
        id,
        name: source.name.slice(0, 100 - SUFFIX.length) + SUFFIX,
        created_at: new Date(),
        channel_instructions: json(source.channel_instructions),
        allowed_domains: json(source.allowed_domains),
        suggested_messages: json(source.suggested_messages),
        initial_messages: json(source.initial_messages),
        notifications_settings: json(source.notifications_settings),
        ip_rate_limits: json(source.ip_rate_limits),
        spam_settings: json(source.spam_settings),
        blocked_countries: json(source.blocked_countries),
        voice_settings: json(source.voice_settings),
        styles: json(source.styles),
      })
      .execute()
    await copySources(trx, account.id, agentId, id)
    await recordAudit(trx, { accountId: account.id, actor, action: 'agent.clone', target: id })
  })
  return id
}
