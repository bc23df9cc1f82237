import type { Selectable } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { isId, newId } from '../../platform/db/ids.ts'
import { type AgentRef, ofAgent, ownRow } from '../../platform/db/refs.ts'
import type { CannedRepliesTable } from '../../platform/db/tables/helpdesk.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { refuseTakenName } from './taken-name.ts'

export type CannedRow = Selectable<CannedRepliesTable>

const noReply = (): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', { message: 'The canned reply does not exist.' })

export async function cannedRepliesOf(db: Db, ref: AgentRef): Promise<CannedRow[]> {
  return db
    .selectFrom('canned_replies')
    .selectAll()
    .where(ofAgent(ref))
    .orderBy((eb) => eb.fn('lower', ['name']))
    .execute()
}

export async function requireCannedReply(db: Db, ref: AgentRef, id: string): Promise<CannedRow> {
  if (!isId(id)) throw noReply()
  const row = await db
    .selectFrom('canned_replies')
    .selectAll()
    .where(ofAgent(ref))
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) throw noReply()
  return row
}

export async function createCannedReply(
  db: Db,
  { accountId, agentId }: AgentRef,
  { name, content }: { name: string; content: string },
): Promise<CannedRow> {
  return refuseTakenName(() =>
    db
      .insertInto('canned_replies')
      .values({ id: newId(), account_id: accountId, agent_id: agentId, name: name.trim(), content })
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
}

export async function updateCannedReply(
  db: Db,
  ref: AgentRef,
  id: string,
  { name, content }: { name?: string; content?: string },
): Promise<CannedRow> {
  const before = await requireCannedReply(db, ref, id)
  const changed = await refuseTakenName(() =>
    db
      .updateTable('canned_replies')
      .set({ name: name?.trim() ?? before.name, content: content ?? before.content, updated_at: new Date() })
      .where(ownRow(ref.accountId, id))
      .returningAll()
      .executeTakeFirst(),
  )
  if (!changed) throw noReply()
  return changed
}

export async function deleteCannedReply(db: Db, ref: AgentRef, id: string): Promise<void> {
  await requireCannedReply(db, ref, id)
  await db.deleteFrom('canned_replies').where('account_id', '=', ref.accountId).where('id', '=', id).execute()
}
