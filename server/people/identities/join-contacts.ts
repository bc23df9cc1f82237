import { type Selectable, sql } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { isId, newId } from '../../platform/db/ids.ts'
import { type AgentRef, ofAgent, ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { ContactFields, ContactJoinsTable, MovedByJoin } from '../../platform/db/tables/contacts.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { requireContactById } from '../contacts/find-contacts.ts'
import { mergeWithin } from '../contacts/merge-contacts.ts'
import type { ContactRow } from '../records/queries.ts'

type Join = Selectable<ContactJoinsTable>

/**
 * Joins two contacts because the channel has said that they are one person. The older one remains, and its id is
 * returned. What is needed to part them again is stored.
 */
export async function joinContacts(
  trx: Trx,
  ref: AgentRef,
  oneId: string,
  otherId: string,
  statedBy: string,
): Promise<string> {
  const locked: ContactRow[] = []
  for (const id of [oneId, otherId].sort()) locked.push(await requireContactById(trx, ref, id, 'deletion'))
  const [into, from] = locked.sort((a, b) => a.created_at.getTime() - b.created_at.getTime())
  if (!into || !from) throw new Error('Two contacts are joined.')
  const moved = await ownedBy(trx, ref, from)
  await mergeWithin(trx, ref, from.id, into.id)
  await recordJoin(trx, ref, { from, into, moved, statedBy, undone: false })
  return into.id
}

const fieldsOf = ({
  external_id,
  name,
  email,
  phonenumber,
  custom_attributes,
}: ContactRow): ContactFields => ({
  external_id,
  name,
  email,
  phonenumber,
  custom_attributes,
})

async function recordJoin(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  join: { from: ContactRow; into: ContactRow; moved: MovedByJoin; statedBy: string; undone: boolean },
): Promise<void> {
  await trx
    .insertInto('contact_joins')
    .values({
      id: newId(),
      account_id: accountId,
      agent_id: agentId,
      contact_id: join.into.id,
      joined_contact_id: join.from.id,
      joined: json(fieldsOf(join.from)),
      kept: json(fieldsOf(join.into)),
      moved: json(join.moved),
      stated_by: join.statedBy,
      undone_at: join.undone ? new Date() : null,
    })
    .execute()
}

async function ownedBy(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  contact: ContactRow,
): Promise<MovedByJoin> {
  const { rows } = await sql<MovedByJoin>`
    select
      (select coalesce(jsonb_agg(id), '[]') from contact_identities
        where account_id = ${accountId} and contact_id = ${contact.id}) as identities,
      (select coalesce(jsonb_agg(id), '[]') from channel_threads
        where account_id = ${accountId} and contact_id = ${contact.id}) as threads,
      (select coalesce(jsonb_agg(id), '[]') from conversations where account_id = ${accountId}
        and agent_id = ${agentId} and (contact_id = ${contact.id} or user_id = ${contact.external_id})) as conversations,
      (select coalesce(jsonb_agg(id), '[]') from tickets where account_id = ${accountId}
        and agent_id = ${agentId} and customer ->> 'id' = ${contact.external_id}) as tickets`.execute(trx)
  const [moved] = rows
  if (!moved) throw new Error('A statement without a condition returns a row.')
  return moved
}

/** Returns whether somebody has parted these contacts. */
export async function areKeptApart(db: Db, ref: AgentRef, oneId: string, otherId: string): Promise<boolean> {
  const row = await db
    .selectFrom('contact_joins')
    .select('id')
    .where(ofAgent(ref))
    .where('undone_at', 'is not', null)
    .where('contact_id', 'in', [oneId, otherId])
    .where('joined_contact_id', 'in', [oneId, otherId])
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Gives an identity back to a contact of its own, with the threads and conversations that came with it. What the channel
 * says later does not join the two again. Throws RESOURCE_NOT_FOUND, and CONTACT_IDENTITY_ALONE when the contact has no
 * other identity.
 */
export function separateIdentity(
  db: Db,
  ref: AgentRef,
  contactId: string,
  identityId: string,
): Promise<ContactRow> {
  return transact(db, async (trx) => {
    const contact = await requireContactById(trx, ref, contactId, 'change')
    const identities = await trx
      .selectFrom('contact_identities')
      .selectAll()
      .where('account_id', '=', ref.accountId)
      .where('contact_id', '=', contactId)
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    const identity = isId(identityId) ? identities.find(({ id }) => id === identityId) : undefined
    if (!identity) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The contact has no such identity.' })
    const joins = await trx
      .selectFrom('contact_joins')
      .selectAll()
      .where('account_id', '=', ref.accountId)
      .where('contact_id', '=', contactId)
      .where('undone_at', 'is', null)
      .orderBy('created_at', 'desc')
      .execute()
    const join = joins.find(({ moved }) => moved.identities.includes(identity.id))
    if (join) return undoJoin(trx, ref, contact, join)
    if (identities.length < 2) throw new ApiError('CONTACT_IDENTITY_ALONE')
    const made = await addContact(trx, ref, newId(), {
      external_id: identity.value,
      name: contact.name,
      email: null,
      phonenumber: identity.kind === 'phone' ? identity.value : null,
      custom_attributes: {},
    })
    const { rows } = await sql<{ id: string }>`
      select id from channel_threads where account_id = ${ref.accountId} and contact_id = ${contactId}
        and channel = 'messaging' and peer = ${identity.value}`.execute(trx)
    const threads = rows.map(({ id }) => id)
    const moved = { identities: [identity.id], threads, conversations: [], tickets: [] }
    await moveBack(trx, ref, { from: contact, to: made }, moved)
    await recordJoin(trx, ref, {
      from: made,
      into: contact,
      moved,
      statedBy: identity.stated_by,
      undone: true,
    })
    return made
  })
}

async function undoJoin(trx: Trx, ref: AgentRef, contact: ContactRow, join: Join): Promise<ContactRow> {
  const restored = await addContact(trx, ref, join.joined_contact_id, join.joined)
  await moveBack(trx, ref, { from: contact, to: restored }, join.moved)
  // What the contact got from the other one goes, unless somebody has changed it since.
  const { kept, joined } = join
  const back = <K extends 'name' | 'email' | 'phonenumber'>(field: K) =>
    kept[field] === null && contact[field] === joined[field] ? null : contact[field]
  const attributes = Object.entries(contact.custom_attributes).filter(
    ([name, value]) => name in kept.custom_attributes || joined.custom_attributes[name] !== value,
  )
  await trx
    .updateTable('contacts')
    .set({
      name: back('name'),
      email: back('email'),
      phonenumber: back('phonenumber'),
      custom_attributes: json(Object.fromEntries(attributes)),
      updated_at: new Date(),
    })
    .where(ownRow(ref.accountId, contact.id))
    .execute()
  await trx
    .updateTable('contact_joins')
    .set({ undone_at: new Date() })
    .where(ownRow(ref.accountId, join.id))
    .execute()
  return restored
}

/** Its external id may have been given to somebody else meanwhile. */
async function addContact(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  id: string,
  { external_id, custom_attributes, ...fields }: ContactFields,
): Promise<ContactRow> {
  const isTaken = await trx
    .selectFrom('contacts')
    .select('id')
    .where(ofAgent({ accountId, agentId }))
    .where('external_id', '=', external_id)
    .executeTakeFirst()
  return trx
    .insertInto('contacts')
    .values({
      id,
      account_id: accountId,
      agent_id: agentId,
      external_id: isTaken ? id : external_id,
      custom_attributes: json(custom_attributes),
      ...fields,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Threads are locked before conversations, as when a message is taken in. */
async function moveBack(
  trx: Trx,
  { accountId }: AgentRef,
  { from, to }: { from: ContactRow; to: ContactRow },
  { identities, threads, conversations, tickets }: MovedByJoin,
): Promise<void> {
  await sql`update contact_identities set contact_id = ${to.id}, person = ${newId()}::uuid
    where account_id = ${accountId} and contact_id = ${from.id} and id = any(${identities}::uuid[])`.execute(
    trx,
  )
  await sql`update channel_threads set contact_id = ${to.id}
    where account_id = ${accountId} and contact_id = ${from.id} and id = any(${threads}::uuid[])`.execute(trx)
  await sql`update conversations set contact_id = ${to.id},
      user_id = case when user_id = ${from.external_id} then ${to.external_id} else user_id end
    where account_id = ${accountId} and (contact_id = ${from.id} or user_id = ${from.external_id})
      and (id = any(${conversations}::uuid[]) or thread_id = any(${threads}::uuid[]))`.execute(trx)
  await sql`update tickets set customer = customer || jsonb_build_object('id', ${to.external_id}::text)
    where account_id = ${accountId} and customer ->> 'id' = ${from.external_id}
      and (id = any(${tickets}::uuid[]) or conversation_id in
        (select id from conversations where account_id = ${accountId} and thread_id = any(${threads}::uuid[])))`.execute(
    trx,
  )
}
