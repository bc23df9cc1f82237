import type { Selectable } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { isId, newId } from '../../platform/db/ids.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import type { BlockedSendersTable } from '../../platform/db/tables/helpdesk.ts'
import { ApiError, invalidField } from '../../platform/http/errors.ts'
import { domainOf, mailAddress } from '../../platform/mail/mail-address.ts'

export type BlockedRow = Selectable<BlockedSendersTable>

const MAX_LISTED = 1_000

/** Returns an address or a domain in lower case. Throws VALIDATION_INVALID_BODY. */
export function senderOf(text: string): string {
  const sender = text.trim().replace(/^@/, '')
  const valid = sender.includes('@') ? mailAddress(sender) : mailAddress(`x@${sender}`)?.slice(2)
  if (!valid?.includes('.'))
    throw invalidField(
      'sender',
      'Must be an e-mail address like ann@example.com or a domain like example.com.',
    )
  return valid
}

/** Blocks a sender; one that is blocked already stays so. */
export async function blockSender(
  db: Db,
  { accountId, agentId }: AgentRef,
  sender: string,
): Promise<BlockedRow> {
  return db
    .insertInto('blocked_senders')
    .values({ id: newId(), account_id: accountId, agent_id: agentId, sender })
    .onConflict((conflict) => conflict.columns(['agent_id', 'sender']).doUpdateSet({ sender }))
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function blockedSenders(db: Db, ref: AgentRef): Promise<BlockedRow[]> {
  return db
    .selectFrom('blocked_senders')
    .selectAll()
    .where(ofAgent(ref))
    .orderBy('created_at', 'desc')
    .limit(MAX_LISTED)
    .execute()
}

/** Throws RESOURCE_NOT_FOUND. */
export async function unblockSender(db: Db, ref: AgentRef, id: string): Promise<void> {
  const gone = isId(id)
    ? await db.deleteFrom('blocked_senders').where(ofAgent(ref)).where('id', '=', id).executeTakeFirst()
    : null
  if (!gone?.numDeletedRows)
    throw new ApiError('RESOURCE_NOT_FOUND', { message: 'There is no such blocked sender.' })
}

/** Returns whether an address, its domain or a domain above that is blocked. */
export async function isBlocked(db: Db, ref: AgentRef, address: string): Promise<boolean> {
  const labels = domainOf(address).split('.')
  const domains = labels.map((_, at) => labels.slice(at).join('.')).slice(0, 20)
  const found = await db
    .selectFrom('blocked_senders')
    .select('id')
    .where(ofAgent(ref))
    .where('sender', 'in', [address, ...domains])
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}
