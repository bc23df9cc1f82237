import type { Static } from 'typebox'
import { recordAudit } from '../../accounts/audit/audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { newAgentId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { defaultStyles } from '../settings/styles-schema.ts'
import { enforceAgentLimit } from './agent-limit.ts'
import { DEFAULT_RATE_LIMITS } from './defaults.ts'
import type { CreateAgent } from './schema.ts'

/** Adds an agent with the defaults of the contract and returns its id. Throws AGENT_LIMIT_REACHED. */
export async function createAgent(
  db: Db,
  account: { id: AccountId; plan: string },
  actor: string,
  { name, instructions, model, temp, visibility }: Static<typeof CreateAgent>,
): Promise<string> {
  const id = newAgentId()
  await transact(db, async (trx) => {
    await enforceAgentLimit(trx, account)
    await trx
      .insertInto('agents')
      .values({
        id,
        account_id: account.id,
        name,
        instructions: instructions ?? '',
        model: model ?? 'auto',
        temp: temp ?? 0,
        visibility: visibility ?? 'private',
        initial_messages: json([]),
        ip_rate_limits: json(DEFAULT_RATE_LIMITS),
        styles: json(defaultStyles),
      })
      .execute()
    await recordAudit(trx, { accountId: account.id, actor, action: 'agent.create', target: id })
  })
  return id
}
