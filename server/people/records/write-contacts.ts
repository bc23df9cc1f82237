import { violates } from '../../platform/db/connections/database-errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { type AgentRef, ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AttributeValue } from '../../platform/db/tables/contacts.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { refuseInvalid } from '../../platform/http/input/validate.ts'
import { checkAttributes } from './check-attributes.ts'
import { normalPhone } from './phone-number.ts'
import { type ContactRow, listAttributes, requireContact } from './queries.ts'

type ContactChange = {
  name?: string | null
  email?: string | null
  phonenumber?: string | null
  /** null removes a value. */
  custom_attributes?: Record<string, unknown>
}
type NewContact = ContactChange & { external_id: string }

/**
 * Adds all contacts in order, or none. `pathOf` returns the path of a contact's custom attributes in the request.
 * Throws VALIDATION_INVALID_BODY when a custom attribute does not accept its value, and RESOURCE_DUPLICATE for an
 * external id that exists or is repeated.
 */
export async function createContacts(
  db: Db,
  ref: AgentRef,
  contacts: NewContact[],
  pathOf: (index: number) => string,
): Promise<ContactRow[]> {
  if (new Set(contacts.map(({ external_id }) => external_id)).size < contacts.length) throw duplicate()
  const attributes = await listAttributes(db, ref)
  refuseInvalid(
    Object.assign(
      {},
      ...contacts.map(({ custom_attributes = {} }, index) =>
        checkAttributes(attributes, custom_attributes, pathOf(index)),
      ),
    ),
  )
  try {
    const values = contacts.map(({ external_id, name, email, phonenumber, custom_attributes }) => ({
      id: newId(),
      account_id: ref.accountId,
      agent_id: ref.agentId,
      external_id,
      name: name ?? null,
      email: email ?? null,
      phonenumber: phonenumber ? normalPhone(phonenumber) : null,
      custom_attributes: json(merged({}, custom_attributes)),
    }))
    const rows = await db
      .insertInto('contacts')
      // The order is fixed, because two requests with the same contacts could deadlock otherwise.
      .values(values.sort((a, b) => (a.external_id < b.external_id ? -1 : 1)))
      .returningAll()
      .execute()
    const order = new Map(contacts.map(({ external_id }, index) => [external_id, index]))
    const placeOf = (row: ContactRow): number => order.get(row.external_id) ?? 0
    return rows.sort((a, b) => placeOf(a) - placeOf(b))
  } catch (error) {
    throw violates(error, 'contacts_external_id') ? duplicate() : error
  }
}

/**
 * Applies the sent fields and merges custom attributes by name. Throws as createContacts does, and
 * RESOURCE_NOT_FOUND.
 */
export function updateContact(
  db: Db,
  ref: AgentRef,
  externalId: string,
  { name, email, phonenumber, custom_attributes }: ContactChange,
  path: string,
): Promise<ContactRow> {
  return transact(db, async (trx) => {
    const row = await requireContact(trx, ref, externalId, true)
    if (custom_attributes) {
      const attributes = await listAttributes(trx, ref)
      refuseInvalid(checkAttributes(attributes, custom_attributes, path))
    }
    return trx
      .updateTable('contacts')
      .set({
        name,
        email,
        ...(phonenumber === undefined ? {} : { phonenumber: phonenumber && normalPhone(phonenumber) }),
        ...(custom_attributes
          ? { custom_attributes: json(merged(row.custom_attributes, custom_attributes)) }
          : {}),
        updated_at: new Date(),
      })
      .where(ownRow(ref.accountId, row.id))
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

const duplicate = (): ApiError =>
  new ApiError('RESOURCE_DUPLICATE', { message: 'A contact with this external_id already exists.' })

function merged(
  values: Record<string, AttributeValue>,
  changes: Record<string, unknown> = {},
): Record<string, unknown> {
  return Object.fromEntries(Object.entries({ ...values, ...changes }).filter(([, value]) => value !== null))
}
