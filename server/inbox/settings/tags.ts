import { type Selectable, sql } from 'kysely'
import type { Context } from '../../context.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { isId, newId } from '../../platform/db/ids.ts'
import { type AgentRef, ofAgent, type TicketRef } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { TicketTagsTable } from '../../platform/db/tables/helpdesk.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { publishDeskEvent } from '../tickets/publish-desk-event.ts'
import { requireTicket, type TicketRow } from '../tickets/ticket-queries.ts'
import { refuseTakenName } from './taken-name.ts'

export type TagRow = Selectable<TicketTagsTable>

const COLOR = '#64748b'
const noTag = (): ApiError => new ApiError('RESOURCE_NOT_FOUND', { message: 'The tag does not exist.' })

export async function tagsOf(db: Db, ref: AgentRef): Promise<TagRow[]> {
  return db
    .selectFrom('ticket_tags')
    .selectAll()
    .where(ofAgent(ref))
    .orderBy((eb) => eb.fn('lower', ['name']))
    .execute()
}

export async function createTag(
  db: Db,
  { accountId, agentId }: AgentRef,
  { name, color = COLOR }: { name: string; color?: string },
): Promise<TagRow> {
  return refuseTakenName(() =>
    db
      .insertInto('ticket_tags')
      .values({ id: newId(), account_id: accountId, agent_id: agentId, name: name.trim(), color })
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
}

export async function updateTag(
  db: Db,
  { accountId, agentId }: AgentRef,
  id: string,
  { name, color }: { name?: string; color?: string },
): Promise<TagRow> {
  if (!isId(id)) throw noTag()
  const changed = await refuseTakenName(() =>
    db
      .updateTable('ticket_tags')
      .set((eb) => ({
        name: name === undefined ? eb.ref('name') : name.trim(),
        color: color ?? eb.ref('color'),
      }))
      .where(ofAgent({ accountId, agentId }))
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst(),
  )
  if (!changed) throw noTag()
  return changed
}

export async function deleteTag(db: Db, ref: AgentRef, id: string): Promise<void> {
  if (!isId(id)) throw noTag()
  const { numDeletedRows } = await db
    .deleteFrom('ticket_tags')
    .where(ofAgent(ref))
    .where('id', '=', id)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw noTag()
}

export async function tagsOfTicket(db: Db, ticket: TicketRow): Promise<TagRow[]> {
  return db
    .selectFrom('ticket_tags')
    .selectAll('ticket_tags')
    .innerJoin('tagged_tickets', 'tagged_tickets.tag_id', 'ticket_tags.id')
    .where('tagged_tickets.ticket_id', '=', ticket.id)
    .where('ticket_tags.account_id', '=', ticket.account_id)
    .orderBy((eb) => eb.fn('lower', ['ticket_tags.name']))
    .execute()
}

/** Throws RESOURCE_NOT_FOUND for a tag that the agent does not have; then nothing is changed. */
export async function setTags(
  ctx: Pick<Context, 'db' | 'notifier'>,
  ref: TicketRef,
  tagIds: string[],
): Promise<TagRow[]> {
  return transact(ctx.db, async (trx) => {
    const ticket = await requireTicket(trx, ref, true)
    const known = await held(trx, ref, tagIds.filter(isId))
    if (known.length !== tagIds.length) throw noTag()
    await trx
      .deleteFrom('tagged_tickets')
      .where('account_id', '=', ref.accountId)
      .where('ticket_id', '=', ticket.id)
      .execute()
    if (known.length > 0) {
      await trx
        .insertInto('tagged_tickets')
        .values(known.map((tag_id) => ({ ticket_id: ticket.id, tag_id, account_id: ref.accountId })))
        .execute()
    }
    await publishDeskEvent(ctx, trx, ref, {
      type: 'ticket',
      data: { ticketNumber: ticket.number },
    })
    return tagsOfTicket(trx, ticket)
  })
}

/** Adds tags to a ticket and takes others away. The tags exist, and their rows are locked. */
export async function changeTags(
  ctx: Pick<Context, 'notifier'> & { db: Trx },
  ref: TicketRef,
  { add, remove }: { add: string[]; remove: string[] },
): Promise<void> {
  const { accountId } = ref
  const ticket = await requireTicket(ctx.db, ref, true)
  const removed = await ctx.db
    .deleteFrom('tagged_tickets')
    .where('account_id', '=', accountId)
    .where('ticket_id', '=', ticket.id)
    .where('tag_id', '=', sql<string>`any(${remove}::uuid[])`)
    .returning('tag_id')
    .execute()
  const added = await sql`
    insert into tagged_tickets (ticket_id, tag_id, account_id)
    select ${ticket.id}::uuid, tag_id, ${accountId}::uuid from unnest(${add}::uuid[]) as tag_id
    on conflict do nothing returning tag_id`.execute(ctx.db)
  if (removed.length + added.rows.length > 0)
    await publishDeskEvent(ctx, ctx.db, ref, { type: 'ticket', data: { ticketNumber: ticket.number } })
}

/** The lock keeps them from being deleted meanwhile. */
async function held(trx: Trx, ref: AgentRef, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await trx
    .selectFrom('ticket_tags')
    .select('id')
    .where(ofAgent(ref))
    .where('id', 'in', ids)
    .forKeyShare()
    .execute()
  return rows.map(({ id }) => id)
}
