import { type Selectable, sql } from 'kysely'
import type { Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { type AgentRef, ofAgent, ownRow } from '../../platform/db/refs.ts'
import type { ContactIdentitiesTable } from '../../platform/db/tables/contacts.ts'
import { resolveContact } from '../records/resolve-contact.ts'
import { areKeptApart, joinContacts } from './join-contacts.ts'

export type Identity = Pick<Selectable<ContactIdentitiesTable>, 'kind' | 'value'>
export type IdentityRow = Selectable<ContactIdentitiesTable>

/** What the channel says in a signed event: these identities are one person. */
type Statement = {
  identities: Identity[]
  /** The business account that was told. Another one may be given other ids of the same person. */
  scope: string
  /** The channel's id of the event. */
  statedBy: string
  name: string | null
  username: string | null
  /** The contact that the person is known by without an identity, if there is one. */
  contactId: string | null
}

/** An identity that now belongs to somebody else, and what the person is called instead. */
type Released = { value: string; instead: string | null }

/** `values` are all identities that the person has or had. */
export type Known = { contactId: string; values: string[]; released: Released[] }

/**
 * Returns the contact of the person with these identities. Identities that are new are added, and contacts that turn
 * out to be one person are joined, unless somebody has parted them. Names are never compared.
 */
export async function identify(trx: Trx, ref: AgentRef, statement: Statement): Promise<Known> {
  const before = await currentRows(trx, ref, statement.identities)
  if (isSettled(before, statement)) return known(trx, before, [])
  await holdIdentities(trx, ref, statement.identities)
  const current = await currentRows(trx, ref, statement.identities)
  const { rows, released } = await release(trx, ref, current, statement)
  const base = mainOf(rows)
  const contactId = base?.contact_id ?? (await contactFor(trx, ref, statement, released))
  const person = base?.person ?? newId()
  const own = await unite(trx, ref, { rows, person, contactId }, statement)
  const missing = statement.identities.filter(({ value }) => !rows.some((row) => row.value === value))
  for (const identity of missing)
    await addIdentity(trx, ref, identity, { person, contactId: own.contactId }, statement)
  if (statement.username !== null)
    await trx
      .updateTable('contact_identities')
      .set({ username: statement.username })
      .where('account_id', '=', ref.accountId)
      .where('person', '=', person)
      .where('kind', '=', 'user')
      .where('replaced_at', 'is', null)
      .execute()
  return known(trx, [{ account_id: ref.accountId, person, contact_id: own.contactId }], released)
}

/**
 * The channel says that a person has other identities now. Returns null for somebody who is not known. The earlier ones
 * may be given to somebody else, so they no longer lead to the person.
 */
export async function replaceIdentities(
  trx: Trx,
  ref: AgentRef,
  earlier: Identity[],
  statement: Statement,
): Promise<Known | null> {
  await holdIdentities(trx, ref, [...earlier, ...statement.identities])
  const rows = await currentRows(trx, ref, earlier)
  const base = mainOf(rows)
  if (!base) return null
  const gone = await trx
    .updateTable('contact_identities')
    .set({ replaced_at: sql<Date>`now()` })
    .where('account_id', '=', ref.accountId)
    .where('person', '=', base.person)
    .where('replaced_at', 'is', null)
    .where((eb) =>
      eb.or([
        eb('kind', '=', 'phone'),
        // A person whose number changes gets new ids as well.
        eb('scope', '=', statement.scope),
      ]),
    )
    .where('value', 'not in', [...statement.identities.map(({ value }) => value), ''])
    .returningAll()
    .execute()
  const present = await currentRows(trx, ref, statement.identities)
  const { rows: theirs, released } = await release(trx, ref, present, statement, base.person)
  const own = await unite(
    trx,
    ref,
    { rows: theirs, person: base.person, contactId: base.contact_id },
    statement,
  )
  for (const identity of statement.identities)
    if (!theirs.some(({ value }) => value === identity.value))
      await addIdentity(trx, ref, identity, { person: base.person, contactId: own.contactId }, statement)
  await renumber(trx, ref, own.contactId, gone, statement.identities)
  const instead = insteadOf(statement.identities)
  return known(
    trx,
    [{ ...base, contact_id: own.contactId }],
    [...released, ...gone.map(({ value }) => ({ value, instead }))],
  )
}

/** A phone number is what messages are sent to if there is one. */
const insteadOf = (identities: readonly Identity[]): string | null =>
  (identities.find(({ kind }) => kind === 'phone') ?? identities.find(({ kind }) => kind === 'user'))
    ?.value ?? null

const isSettled = (rows: IdentityRow[], { identities, username }: Statement): boolean =>
  rows.length === identities.length &&
  new Set(rows.map(({ person }) => person)).size === 1 &&
  (username === null || rows.every((row) => row.kind !== 'user' || row.username === username))

/** An id of the channel is given to one person only; a number may be given to the next one. */
const mainOf = (rows: IdentityRow[]): IdentityRow | undefined =>
  rows.find(({ kind }) => kind === 'user') ?? rows.find(({ kind }) => kind === 'parent_user') ?? rows[0]

function currentRows(trx: Trx, ref: AgentRef, identities: readonly Identity[]): Promise<IdentityRow[]> {
  return trx
    .selectFrom('contact_identities')
    .selectAll()
    .where(ofAgent(ref))
    .where('channel', '=', 'messaging')
    .where('value', 'in', [...identities.map(({ value }) => value), ''])
    .where('replaced_at', 'is', null)
    .orderBy('created_at')
    .execute()
}

/** Two events about one person may arrive at once. The order is fixed, so that they cannot deadlock. */
async function holdIdentities(
  trx: Trx,
  { agentId }: AgentRef,
  identities: readonly Identity[],
): Promise<void> {
  for (const value of identities.map((one) => one.value).sort())
    await sql`select pg_advisory_xact_lock(hashtextextended(${`identity ${agentId} ${value}`}, 0))`.execute(
      trx,
    )
}

/**
 * Removes a number from a person who has another id at the same business account: the number now belongs to somebody
 * else, who must not see the messages of its former owner.
 */
async function release(
  trx: Trx,
  { accountId }: AgentRef,
  rows: IdentityRow[],
  { identities, scope }: Statement,
  person?: string,
): Promise<{ rows: IdentityRow[]; released: Released[] }> {
  const phone = rows.find(({ kind }) => kind === 'phone')
  const told = identities.filter(({ kind }) => kind === 'user').map(({ value }) => value)
  if (!phone || told.length === 0 || phone.person === person) return { rows, released: [] }
  const other = await trx
    .selectFrom('contact_identities')
    .select('value')
    .where('account_id', '=', accountId)
    .where('person', '=', phone.person)
    .where('kind', '=', 'user')
    .where('scope', '=', scope)
    .where('replaced_at', 'is', null)
    .where('value', 'not in', told)
    .executeTakeFirst()
  if (!other) return { rows, released: [] }
  await trx
    .updateTable('contact_identities')
    .set({ replaced_at: sql<Date>`now()` })
    .where(ownRow(accountId, phone.id))
    .execute()
  return {
    rows: rows.filter(({ id }) => id !== phone.id),
    released: [{ value: phone.value, instead: other.value }],
  }
}

async function contactFor(
  trx: Trx,
  ref: AgentRef,
  { identities, name, contactId }: Statement,
  released: Released[],
): Promise<string> {
  const phone = identities.find(({ kind }) => kind === 'phone')?.value
  const isTaken =
    released.some(({ value }) => value === phone) ||
    (phone !== undefined && (await hadAnother(trx, ref, phone)))
  if (contactId !== null && !isTaken) return contactId
  const named = name === null ? {} : { name }
  if (phone !== undefined && !isTaken)
    return (await resolveContact(trx, ref, { phonenumber: phone, ...named })).id
  const externalId = insteadOf(identities.filter(({ kind }) => kind !== 'phone')) ?? newId()
  return (await resolveContact(trx, ref, { externalId, ...named, ...(phone ? { newPhone: phone } : {}) })).id
}

/** Returns whether the number was taken from somebody, whose contact may still be named after it. */
async function hadAnother(trx: Trx, ref: AgentRef, value: string): Promise<boolean> {
  const row = await trx
    .selectFrom('contact_identities')
    .select('id')
    .where(ofAgent(ref))
    .where('value', '=', value)
    .where('replaced_at', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Joins everybody else among the rows with the person. Returns the contact that remains. */
async function unite(
  trx: Trx,
  ref: AgentRef,
  { rows, person, contactId }: { rows: IdentityRow[]; person: string; contactId: string },
  { statedBy }: Statement,
): Promise<{ contactId: string }> {
  let remaining = contactId
  const others = new Map(rows.filter((row) => row.person !== person).map((row) => [row.person, row]))
  for (const other of others.values()) {
    if (other.contact_id !== remaining) {
      if (await areKeptApart(trx, ref, other.contact_id, remaining)) continue
      remaining = await joinContacts(trx, ref, other.contact_id, remaining, statedBy)
    }
    await trx
      .updateTable('contact_identities')
      .set({ person })
      .where('account_id', '=', ref.accountId)
      .where('person', '=', other.person)
      .execute()
  }
  return { contactId: remaining }
}

async function addIdentity(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  { kind, value }: Identity,
  { person, contactId }: { person: string; contactId: string },
  { scope, statedBy, username }: Statement,
): Promise<void> {
  await trx
    .insertInto('contact_identities')
    .values({
      id: newId(),
      account_id: accountId,
      agent_id: agentId,
      contact_id: contactId,
      person,
      channel: 'messaging',
      kind,
      value,
      scope,
      username: kind === 'user' ? username : null,
      stated_by: statedBy,
    })
    .execute()
}

/** The number of the contact follows when it was the one that the person no longer has. */
async function renumber(
  trx: Trx,
  { accountId }: AgentRef,
  contactId: string,
  gone: IdentityRow[],
  identities: readonly Identity[],
): Promise<void> {
  const phones = gone.filter(({ kind }) => kind === 'phone').map(({ value }) => value)
  if (phones.length === 0) return
  await trx
    .updateTable('contacts')
    .set({
      phonenumber: identities.find(({ kind }) => kind === 'phone')?.value ?? null,
      updated_at: new Date(),
    })
    .where(ownRow(accountId, contactId))
    .where('phonenumber', 'in', phones)
    .execute()
}

async function known(
  trx: Trx,
  [row]: Pick<IdentityRow, 'account_id' | 'person' | 'contact_id'>[],
  released: Released[],
): Promise<Known> {
  if (!row) throw new Error('A person needs an identity.')
  const all = await trx
    .selectFrom('contact_identities')
    .select('value')
    .where('account_id', '=', row.account_id)
    .where('person', '=', row.person)
    .where('replaced_at', 'is', null)
    .execute()
  return { contactId: row.contact_id, values: all.map(({ value }) => value), released }
}
