import { sql } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent, ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { invalidField } from '../../platform/http/errors.ts'
import type { ContactRow } from '../records/queries.ts'
import { requireContactById } from './find-contacts.ts'

/**
 * Merges the first contact into the second, which gets everything that belonged to the first and those fields that
 * it lacks. The first is deleted. Throws RESOURCE_NOT_FOUND, and VALIDATION_INVALID_BODY when both are the same. Of
 * two merges in opposite directions, the second finds no contact, so no conversation is lost.
 */
export function mergeContacts(db: Db, ref: AgentRef, fromId: string, intoId: string): Promise<ContactRow> {
  if (fromId === intoId) throw invalidField('intoContactId', 'This is the same contact.')
  return transact(db, (trx) => mergeWithin(trx, ref, fromId, intoId))
}

/** Does the same in the caller's transaction. */
export async function mergeWithin(
  trx: Trx,
  ref: AgentRef,
  fromId: string,
  intoId: string,
): Promise<ContactRow> {
  // The rows are always locked in the same order, so that two merges cannot deadlock.
  const locked = new Map<string, ContactRow>()
  for (const id of [fromId, intoId].sort())
    locked.set(id, await requireContactById(trx, ref, id, id === fromId ? 'deletion' : 'change'))
  const [from, into] = [locked.get(fromId), locked.get(intoId)]
  if (!from || !into) throw new Error('Both contacts were locked.')
  // Threads are locked before conversations, as when a message is taken in.
  await moveThreads(trx, from, into)
  await moveConversations(trx, from, into)
  await trx
    .updateTable('tickets')
    .set({ customer: sql`customer || jsonb_build_object('id', ${into.external_id}::text)` })
    .where(ofAgent(ref))
    .where(sql<string>`customer ->> 'id'`, '=', from.external_id)
    .execute()
  await moveIdentities(trx, from, into)
  await trx.deleteFrom('contacts').where('account_id', '=', ref.accountId).where('id', '=', from.id).execute()
  return trx
    .updateTable('contacts')
    .set({
      name: into.name ?? from.name,
      email: into.email ?? from.email,
      phonenumber: into.phonenumber ?? from.phonenumber,
      custom_attributes: json({ ...from.custom_attributes, ...into.custom_attributes }),
      updated_at: new Date(),
    })
    .where(ownRow(ref.accountId, into.id))
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Moves the contact's identities on channels, and its joins that can still be undone. */
async function moveIdentities(trx: Trx, from: ContactRow, into: ContactRow): Promise<void> {
  await trx
    .updateTable('contact_identities')
    .set({ contact_id: into.id })
    .where('account_id', '=', from.account_id)
    .where('contact_id', '=', from.id)
    .execute()
  await trx
    .updateTable('contact_joins')
    .set({ contact_id: into.id })
    .where('account_id', '=', from.account_id)
    .where('contact_id', '=', from.id)
    .execute()
}

const moveThreads = (trx: Trx, from: ContactRow, into: ContactRow) =>
  trx
    .updateTable('channel_threads')
    .set({ contact_id: into.id })
    .where('account_id', '=', from.account_id)
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('channel_threads')
        .select('id')
        .where('account_id', '=', from.account_id)
        .where('contact_id', '=', from.id)
        .orderBy('id')
        .forNoKeyUpdate(),
    )
    .execute()

/** Conversations belong to a contact by its id, or because they name it as their user. */
async function moveConversations(trx: Trx, from: ContactRow, into: ContactRow): Promise<void> {
  await trx
    .updateTable('conversations')
    .set({
      contact_id: into.id,
      user_id: sql<
        string | null
      >`case when user_id = ${from.external_id} then ${into.external_id} else user_id end`,
    })
    .where('account_id', '=', from.account_id)
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('conversations')
        .select('id')
        .where('account_id', '=', from.account_id)
        .where('agent_id', '=', from.agent_id)
        .where((eb) => eb.or([eb('contact_id', '=', from.id), eb('user_id', '=', from.external_id)]))
        .orderBy('id')
        .forNoKeyUpdate(),
    )
    .execute()
}
