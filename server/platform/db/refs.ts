import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { AccountId } from './tables/columns.ts'

/** Names an agent of an account. Every statement on the agent's rows takes both ids. */
export type AgentRef = { accountId: AccountId; agentId: string }

export type SourceRef = AgentRef & { sourceId: string }

export type ConversationRef = AgentRef & { conversationId: string }

/** Names a ticket by its number within its agent. */
export type TicketRef = AgentRef & { ticketNumber: number }

/** Matches the agent's rows. */
export const ofAgent = ({ accountId, agentId }: AgentRef): RawBuilder<SqlBool> =>
  sql`${sql.ref('account_id')} = ${accountId} and ${sql.ref('agent_id')} = ${agentId}`

/** Matches the account's row with this id. */
export const ownRow = (accountId: AccountId, id: string): RawBuilder<SqlBool> =>
  sql`${sql.ref('account_id')} = ${accountId} and ${sql.ref('id')} = ${id}`
