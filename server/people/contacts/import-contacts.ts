import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db, Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AttributeType } from '../../platform/db/tables/contacts.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { bodyValidator } from '../../platform/http/input/validate.ts'
import { normalPhone } from '../records/phone-number.ts'
import { type AttributeRow, listAttributes } from '../records/queries.ts'
import { createContacts, updateContact } from '../records/write-contacts.ts'
import type { importContacts as contract } from './contract.ts'
import { NewContact } from './schema.ts'

type ImportResult = Static<typeof contract.success.schema>
type Row = Static<typeof NewContact>

const problemsOf = bodyValidator(NewContact)

/** Adds or changes contacts and skips invalid ones. Throws RESOURCE_DUPLICATE. */
export const importContacts = (
  db: Db,
  ref: AgentRef,
  sent: Record<string, unknown>[],
): Promise<ImportResult> =>
  transact(db, async (trx) => {
    const attributes = await listAttributes(trx, ref)
    const outcome: ImportResult = { created: 0, updated: 0, refused: [], unknownAttributes: [] }
    const unknown = new Set<string>()
    const valid: { index: number; row: Row; values: Record<string, unknown> }[] = []
    for (const [index, given] of sent.entries()) {
      const [problem] = Object.entries(problemsOf(given))
      if (problem) {
        outcome.refused.push({ index, reason: `${problem[0]}: ${problem[1]}` })
        continue
      }
      const row: Row = given
      valid.push({ index, row, values: fitting(row.customAttributes ?? {}, attributes, unknown) })
    }
    // Known contacts are locked, and new ones added, in one order, because two imports of the same people could deadlock
    // otherwise.
    await lockKnown(
      trx,
      ref,
      valid.map(({ row }) => row),
    )
    for (const { index, row, values } of valid.sort(byExternalId)) {
      try {
        const isNew = await importOne(trx, ref, row, values)
        outcome[isNew ? 'created' : 'updated']++
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'VALIDATION_INVALID_BODY')) throw error
        const [path, sentence] = Object.entries(error.details ?? {})[0] ?? ['', error.message]
        outcome.refused.push({ index, reason: `${path}: ${sentence}` })
      }
    }
    outcome.refused.sort((a, b) => a.index - b.index)
    return { ...outcome, unknownAttributes: [...unknown].slice(0, 100) }
  })

/** Compares contacts by external id. Those without one are equal to each other and come last. */
function byExternalId({ row: { externalId: a } }: { row: Row }, { row: { externalId: b } }: { row: Row }) {
  if (a === b) return 0
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1
  return a < b ? -1 : 1
}

async function lockKnown(trx: Trx, { accountId, agentId }: AgentRef, rows: Row[]): Promise<void> {
  const externalIds = rows.flatMap(({ externalId }) => externalId ?? [])
  const others = rows.filter(({ externalId }) => externalId === undefined)
  const emails = others.flatMap(({ email }) => email?.toLowerCase() ?? [])
  const phones = others.flatMap(({ phoneNumber }) => (phoneNumber ? normalPhone(phoneNumber) : []))
  await sql`
    select from contacts where account_id = ${accountId} and agent_id = ${agentId}
      and (external_id = any(${externalIds}::text[]) or lower(email) = any(${emails}::text[])
        or phonenumber = any(${phones}::text[]))
    order by id for no key update`.execute(trx)
}

async function importOne(
  trx: Trx,
  ref: AgentRef,
  row: Row,
  custom_attributes: Record<string, unknown>,
): Promise<boolean> {
  const { externalId, name, email, phoneNumber } = row
  const known = await knownAs(trx, ref, row)
  const change = {
    ...(name === undefined ? {} : { name }),
    ...(email === undefined ? {} : { email }),
    ...(phoneNumber === undefined ? {} : { phonenumber: phoneNumber }),
    custom_attributes,
  }
  if (known !== undefined) {
    await updateContact(trx, ref, known, change, 'customAttributes')
    return false
  }
  await createContacts(
    trx,
    ref,
    [{ external_id: externalId ?? newId(), ...change }],
    () => 'customAttributes',
  )
  return true
}

/** Returns the external id of the contact that the agent already has, the oldest if there are several. */
async function knownAs(
  trx: Trx,
  ref: AgentRef,
  { externalId, email, phoneNumber }: Row,
): Promise<string | undefined> {
  if (externalId === undefined && !email && !phoneNumber) return undefined
  const row = await trx
    .selectFrom('contacts')
    .select('external_id')
    .where(ofAgent(ref))
    .where((eb) => {
      if (externalId !== undefined) return eb('external_id', '=', externalId)
      return eb.or([
        ...(email ? [eb(eb.fn<string>('lower', ['email']), '=', email.toLowerCase())] : []),
        ...(phoneNumber ? [eb('phonenumber', '=', normalPhone(phoneNumber))] : []),
      ])
    })
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  return row?.external_id
}

/** Skips values without an attribute, and converts texts to the type of their attribute. */
function fitting(
  values: Record<string, unknown>,
  attributes: AttributeRow[],
  unknown: Set<string>,
): Record<string, unknown> {
  const types = new Map(attributes.map(({ name, type }) => [name, type]))
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const type = types.get(name)
      if (type === undefined) {
        unknown.add(name)
        return []
      }
      return [[name, typeof value === 'string' ? readAs(type, value.trim()) : value]]
    }),
  )
}

function readAs(type: AttributeType, text: string): unknown {
  if (type === 'number' && text !== '') return Number(text)
  if (type === 'boolean' && /^(true|yes|1)$/i.test(text)) return true
  if (type === 'boolean' && /^(false|no|0)$/i.test(text)) return false
  return text
}
