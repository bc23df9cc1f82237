import { sql } from 'kysely'
import { requireAgent } from '../../agents/records/find-agent.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { isId, newId } from '../../platform/db/ids.ts'
import { type AgentRef, ownRow } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { StatusCategory } from '../../platform/db/tables/helpdesk.ts'
import { ApiError, invalidField } from '../../platform/http/errors.ts'
import { ensureStatuses, type StatusRow } from '../tickets/statuses.ts'

type Fields = { externalLabel?: string; internalLabel?: string; color?: string; isDefault?: boolean }

const MAX_STATUSES = 50
const COLOR = '#64748b'

export async function createStatus(
  db: Db,
  ref: AgentRef,
  fields: Fields & { category: StatusCategory; internalLabel: string },
): Promise<StatusRow> {
  return change(db, ref, async (trx, known) => {
    if (known.length >= MAX_STATUSES) {
      throw invalidField('category', `An agent has at most ${MAX_STATUSES} statuses.`)
    }
    if (fields.isDefault) await noDefault(trx, ref, fields.category)
    return trx
      .insertInto('ticket_statuses')
      .values({
        id: newId(),
        account_id: ref.accountId,
        agent_id: ref.agentId,
        category: fields.category,
        internal_label: fields.internalLabel,
        external_label: fields.externalLabel ?? fields.internalLabel,
        color: fields.color ?? COLOR,
        is_default: fields.isDefault ?? false,
        position: Math.max(...known.map(({ position }) => position)) + 1,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

export async function updateStatus(db: Db, ref: AgentRef, id: string, fields: Fields): Promise<StatusRow> {
  return change(db, ref, async (trx, known) => {
    const status = requireStatus(known, id)
    if (fields.isDefault === false && status.is_default) {
      throw invalidField('isDefault', 'Make another status of the category the default instead.')
    }
    if (fields.isDefault && !status.is_default) await noDefault(trx, ref, status.category)
    return trx
      .updateTable('ticket_statuses')
      .set({
        external_label: fields.externalLabel ?? status.external_label,
        internal_label: fields.internalLabel ?? status.internal_label,
        color: fields.color ?? status.color,
        is_default: fields.isDefault ?? status.is_default,
      })
      .where(ownRow(ref.accountId, id))
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

export async function deleteStatus(db: Db, ref: AgentRef, id: string): Promise<void> {
  await change(db, ref, async (trx, known) => {
    const status = requireStatus(known, id)
    if (status.is_default) {
      throw invalidField(
        'statusId',
        'The default status of a category cannot be deleted. Make another one the default first.',
      )
    }
    const heir = known.find(({ category, is_default }) => is_default && category === status.category)
    await trx
      .updateTable('tickets')
      .set({ status_id: heir?.id ?? null })
      .where('account_id', '=', ref.accountId)
      .where('status_id', '=', id)
      .execute()
    await trx.deleteFrom('ticket_statuses').where(ownRow(ref.accountId, id)).execute()
  })
}

export async function orderStatuses(db: Db, ref: AgentRef, ids: string[]): Promise<StatusRow[]> {
  return change(db, ref, async (trx, known) => {
    const own = new Map(known.map((status) => [status.id, status]))
    const ordered = ids.flatMap((id, position) => {
      const status = own.get(id)
      return status ? [{ ...status, position }] : []
    })
    if (ids.length !== own.size || ordered.length !== own.size) {
      throw invalidField('statusIds', 'Must name every status of the agent once.')
    }
    for (const { id, position } of ordered) {
      await trx.updateTable('ticket_statuses').set({ position }).where(ownRow(ref.accountId, id)).execute()
    }
    return ordered
  })
}

/** The agent's row is locked, so the statuses stay what they are. */
async function change<T>(
  db: Db,
  ref: AgentRef,
  work: (trx: Trx, known: StatusRow[]) => Promise<T>,
): Promise<T> {
  return transact(db, async (trx) => {
    await requireAgent(trx, ref, 'update')
    return work(trx, await ensureStatuses(trx, ref))
  })
}

function requireStatus(known: StatusRow[], id: string): StatusRow {
  const found = isId(id) ? known.find((status) => status.id === id.toLowerCase()) : undefined
  if (!found) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The ticket status does not exist.' })
  return found
}

async function noDefault(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  category: StatusCategory,
): Promise<void> {
  await sql`update ticket_statuses set is_default = false
    where account_id = ${accountId} and agent_id = ${agentId} and category = ${category}`.execute(trx)
}
