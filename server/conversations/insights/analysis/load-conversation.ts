import { sql } from 'kysely'
import type { Db } from '../../../platform/db/database.ts'
import type { Guardrails } from '../../../platform/db/tables/agents.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { MessageRow } from '../../records/queries.ts'
import type { Claim } from './claim-conversations.ts'

/** The parts of a conversation that are analysed. */
export type Loaded = {
  id: string
  accountId: AccountId
  agentId: string
  model: string
  creditLimit: number | null
  guardrails: Guardrails | null
  tries: number
  escalated: boolean
  /** Oldest first; only the newest messages of a very long conversation. */
  messages: MessageRow[]
}

const MAX_MESSAGES = 500

/** Returns the conversation; null when it is gone, or something has happened in it since it was claimed. */
export async function loadConversation(db: Db, { id, held }: Claim): Promise<Loaded | null> {
  const { rows } = await sql<Omit<Loaded, 'messages'>>`
    select c.id, c.account_id as "accountId", c.agent_id as "agentId", a.model,
      a.credit_limit as "creditLimit", a.guardrails,
      c.analysis_tries as tries, c.escalated
    from conversations c join agents a on a.id = c.agent_id
    where c.id = ${id} and c.analysis_held = ${held}::timestamptz`.execute(db)
  const found = rows[0]
  if (!found) return null
  const messages = await db
    .selectFrom('messages')
    .selectAll()
    .where('account_id', '=', found.accountId)
    .where('conversation_id', '=', id)
    .orderBy('seq', 'desc')
    .limit(MAX_MESSAGES)
    .execute()
  return { ...found, messages: messages.reverse() }
}
