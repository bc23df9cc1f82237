import type { Db } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { type AgentRef, ofAgent, ownRow } from '../../platform/db/refs.ts'
import type { AttributeType } from '../../platform/db/tables/contacts.ts'
import { ApiError, invalidField } from '../../platform/http/errors.ts'
import type { AttributeRow } from './queries.ts'

type NewAttribute = {
  name: string
  type: AttributeType
  label?: string
  description?: string
  archived?: boolean
}

/** `name` and `type` cannot be changed, but they may be sent as they are. */
type AttributeChange = Partial<NewAttribute>

/** Adds a custom attribute. Without a label, its name is shown. Throws RESOURCE_DUPLICATE. */
export async function createAttribute(
  db: Db,
  { accountId, agentId }: AgentRef,
  { name, type, label = name, description = '', archived = false }: NewAttribute,
): Promise<AttributeRow> {
  const row = await db
    .insertInto('custom_attributes')
    .values({
      id: newId(),
      account_id: accountId,
      agent_id: agentId,
      name,
      type,
      label,
      description,
      archived,
    })
    .onConflict((conflict) => conflict.constraint('custom_attributes_name').doNothing())
    .returningAll()
    .executeTakeFirst()
  if (!row) {
    throw new ApiError('RESOURCE_DUPLICATE', { message: 'A custom attribute with this name already exists.' })
  }
  return row
}

/** Applies the sent fields. Throws RESOURCE_NOT_FOUND, and VALIDATION_INVALID_BODY for another name or type. */
export async function updateAttribute(
  db: Db,
  { accountId, agentId }: AgentRef,
  name: string,
  { name: sameName = name, type, label, description, archived }: AttributeChange,
): Promise<AttributeRow> {
  const attributes = db
    .selectFrom('custom_attributes')
    .selectAll()
    .where(ofAgent({ accountId, agentId }))
    .where('name', '=', name)
  const row = await attributes.executeTakeFirst()
  if (!row) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The custom attribute does not exist.' })
  if (sameName !== name) throw invalidField('name', 'The name cannot be changed.')
  if (type !== undefined && type !== row.type) {
    throw invalidField('type', `The type cannot be changed; it is ${row.type}.`)
  }
  return db
    .updateTable('custom_attributes')
    .set({
      label: label ?? row.label,
      description: description ?? row.description,
      archived: archived ?? row.archived,
      updated_at: new Date(),
    })
    .where(ownRow(accountId, row.id))
    .returningAll()
    .executeTakeFirstOrThrow()
}
