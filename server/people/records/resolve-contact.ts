import { sql } from 'kysely'
import type { Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import { normalPhone } from './phone-number.ts'
import type { ContactRow } from './queries.ts'

/**
 * The identity of a person on a channel: a number, an address, or an external id of the channel's own. `newPhone` is the
 * number of somebody who is known by an external id; it does not lead to the contact that had the number before.
 */
export type Person = {
  phonenumber?: string
  email?: string
  externalId?: string
  newPhone?: string
  name?: string
}

/**
 * Returns the contact with this number or address, the oldest if there are several. Otherwise it creates one, whose
 * external id is the number (E.164) or the address. Two messages of one person may arrive at once.
 */
export async function resolveContact(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  { phonenumber, email, name, externalId: ownId, newPhone }: Person,
): Promise<ContactRow> {
  const phone = phonenumber === undefined ? null : normalPhone(phonenumber)
  const address = email?.toLowerCase() ?? null
  const externalId = ownId ?? phone ?? address
  if (externalId === null) throw new Error('A person needs a phone number, an e-mail address or an id.')
  const known = await trx
    .selectFrom('contacts')
    .selectAll()
    .where(ofAgent({ accountId, agentId }))
    .where((eb) =>
      ownId !== undefined
        ? eb('external_id', '=', ownId)
        : phone === null
          ? eb(eb.fn<string>('lower', ['email']), '=', address)
          : eb('phonenumber', '=', phone),
    )
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  if (known) return known
  return trx
    .insertInto('contacts')
    .values({
      id: newId(),
      account_id: accountId,
      agent_id: agentId,
      external_id: externalId,
      name: name ?? null,
      email: address,
      phonenumber: phone ?? newPhone ?? null,
      custom_attributes: '{}',
    })
    .onConflict((conflict) =>
      conflict.constraint('contacts_external_id').doUpdateSet({
        phonenumber: sql<string | null>`coalesce(contacts.phonenumber, excluded.phonenumber)`,
        email: sql<string | null>`coalesce(contacts.email, excluded.email)`,
      }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}
