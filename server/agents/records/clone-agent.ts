import { recordAudit } from '../../accounts/audit/audit.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { newAgentId } from '../../platform/db/ids.ts'
import { type AgentRef, ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { attempt, transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { copyPictures } from '../pictures/pictures.ts'
import { enforceAgentLimit } from './agent-limit.ts'
import type { AgentReactions } from './agent-reactions.ts'
import type { AgentRow } from './find-agent.ts'
import { requireAgent } from './find-agent.ts'

const SUFFIX = ' (copy)'
const MAX_NAME_LENGTH = 100

type Clone = {
  id: string
  /** The reason why the sources could not be copied, or undefined. */
  failure: unknown
}

/**
 * Copies an agent with its actions, procedures and sources. If the sources cannot be copied, the copy is created
 * without them. Throws AGENT_NOT_FOUND and AGENT_LIMIT_REACHED.
 */
export async function cloneAgent(
  db: Db,
  account: { id: AccountId; plan: string },
  actor: string,
  agentId: string,
  { copyActions, copySources }: Pick<AgentReactions, 'copyActions' | 'copySources'>,
): Promise<Clone> {
  return transact(db, async (trx) => {
    await enforceAgentLimit(trx, account)
    // With a shared lock, nothing of the agent changes while it is copied.
    const original = await requireAgent(trx, { accountId: account.id, agentId }, 'share')
    const id = await copyRow(trx, original)
    await copyPictures(trx, account.id, agentId, id)
    await copyActions(trx, account.id, agentId, id)
    const failure = await attempt(trx, () => copySources(trx, account.id, agentId, id)).then(
      () => undefined,
      (error: unknown) => error ?? new Error('The sources were not copied.'),
    )
    if (failure !== undefined) await forgetTraining(trx, { accountId: account.id, agentId: id })
    await recordAudit(trx, { accountId: account.id, actor, action: 'agent.clone', target: id })
    return { id, failure }
  })
}

async function copyRow(trx: Trx, original: AgentRow): Promise<string> {
  const { created_at: _made, updated_at: _changed, budget_told: _told, ...settings } = original
  const id = newAgentId()
  await trx
    .insertInto('agents')
    .values({
      ...settings,
      id,
      name: nameOfCopy(original.name),
      channel_instructions: json(original.channel_instructions),
      allowed_domains: json(original.allowed_domains),
      suggested_messages: json(original.suggested_messages),
      initial_messages: json(original.initial_messages),
      notifications_settings: json(original.notifications_settings),
      ip_rate_limits: json(original.ip_rate_limits),
      ai_notice: json(original.ai_notice),
      spam_settings: json(original.spam_settings),
      blocked_countries: json(original.blocked_countries),
      voice_settings: json(original.voice_settings),
      styles: json(original.styles),
      guardrails: json(original.guardrails),
    })
    .execute()
  return id
}

/** The name is cut by code points, because an unpaired surrogate could not be stored. */
export const nameOfCopy = (name: string): string =>
  Array.from(name)
    .slice(0, MAX_NAME_LENGTH - SUFFIX.length)
    .join('') + SUFFIX

/** Resets the settings that require live sources. */
async function forgetTraining(trx: Trx, { accountId, agentId }: AgentRef): Promise<void> {
  await trx
    .updateTable('agents')
    .set({ auto_retrain: false, last_trained_at: null })
    .where(ownRow(accountId, agentId))
    .execute()
}
