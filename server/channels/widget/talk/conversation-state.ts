import { sql } from 'kysely'
import type { Static } from 'typebox'
import { PRESENCE_MINUTES } from '../../../accounts/records/members.ts'
import { onlineMembers } from '../../../inbox/team/online-members.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { ConversationStatus } from '../../../platform/db/tables/conversations.ts'
import type { Visit } from '../visitors/visitor.ts'
import type { Help } from './schema.ts'

/** The version of a conversation as its visitor sees it. An unchanged version means that there is nothing new to read. */
type ConversationState = {
  id: string
  version: string
  status: ConversationStatus
  /** Whether a ticket is open. */
  isWaiting: boolean
  isStaffed: boolean
  helper: string | null
}

type Row = {
  id: string
  status: ConversationStatus
  last_seq: number
  cut_messages: number
  is_waiting: boolean
  is_staffed: boolean
  is_answering: boolean
  helper: string | null
}

/** The states of conversations that their visitors have been admitted to; those that are gone are missing. */
export async function readStates(db: Db, ids: readonly string[]): Promise<ConversationState[]> {
  const { rows } = await sql<Row>`
    select c.id, c.status, c.last_seq, c.cut_messages, helper.name as helper,
      exists (select from tickets where tickets.conversation_id = c.id
        and status_category not in ('closed', 'cancelled')) as is_waiting,
      exists (select from members where members.account_id = c.account_id and presence = 'online'
        and last_seen_at > now() - ${PRESENCE_MINUTES} * interval '1 minute') as is_staffed,
      exists (select from generations where generations.conversation_id = c.id
        and generations.status = 'running') as is_answering
    from conversations as c left join members as helper
      on helper.id = c.taken_over_by and helper.account_id = c.account_id
    where c.id = any(${ids}::uuid[])`.execute(db)
  return rows.map((row) => {
    const isWaiting = row.is_waiting || row.status === 'taken_over'
    // Who is available matters only to visitors who wait for a person. Whoever has taken over is there for them.
    const isStaffed = isWaiting && (row.is_staffed || row.helper !== null)
    const seen = [
      row.last_seq,
      row.cut_messages,
      row.status,
      isWaiting,
      isStaffed,
      row.is_answering,
      row.helper,
    ]
    return {
      id: row.id,
      version: seen.join('.'),
      status: row.status,
      isWaiting,
      isStaffed,
      helper: row.helper,
    }
  })
}

/** What the visitor is told about the team; null while only the agent is involved. */
export async function helpOf(
  db: Db,
  { agent }: Pick<Visit, 'agent'>,
  { status, isWaiting, isStaffed, helper }: ConversationState,
): Promise<Static<typeof Help> | null> {
  if (!isWaiting || status === 'ended') return null
  if (status === 'taken_over') return { state: 'taken_over', name: helper, isStaffed, opensAt: null }
  const { opensAt } = await onlineMembers(db, { accountId: agent.account_id, agentId: agent.id })
  return { state: 'waiting', name: null, isStaffed, opensAt: isStaffed ? null : opensAt }
}
