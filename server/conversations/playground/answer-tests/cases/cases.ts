import { type Selectable, sql } from 'kysely'
import type { Static } from 'typebox'
import { holdAgent } from '../../../../agents/records/find-agent.ts'
import type { Db, Trx } from '../../../../platform/db/database.ts'
import { isId, newId } from '../../../../platform/db/ids.ts'
import { type AgentRef, ofAgent } from '../../../../platform/db/refs.ts'
import { json } from '../../../../platform/db/statements/json.ts'
import { transact } from '../../../../platform/db/statements/transact.ts'
import type { AnswerCasesTable } from '../../../../platform/db/tables/conversations.ts'
import { ApiError, invalidField } from '../../../../platform/http/errors.ts'
import { newestFirst, type PageRequest } from '../../../../platform/http/pagination.ts'
import { requireRow } from '../../../../platform/http/require-row.ts'
import { requireConversation } from '../../../records/queries.ts'
import type { AddedAnswerCase, AnswerCase, AnswerCaseChange, CaseContent, CaseOfRun } from '../schema.ts'

type CaseRow = Selectable<AnswerCasesTable>

/** The most cases of an agent. */
export const MAX_CASES = 500
/** The most bytes of all cases of an agent, which a run copies. */
const MAX_BYTES = 10_000_000

/** Returns up to `limit` + 1 cases, newest first, and the total number. */
export const listCases = (db: Db, ref: AgentRef, page: PageRequest) =>
  newestFirst(db.selectFrom('answer_cases').where(ofAgent(ref)).selectAll(), page)

/** Returns the cases of a run, oldest first: all, or those with these ids. Throws RESOURCE_NOT_FOUND for a foreign id. */
export async function casesToRun(
  db: Db,
  ref: AgentRef,
  ids: readonly string[] | undefined,
): Promise<CaseRow[]> {
  const wanted = ids && [...new Set(ids)]
  if (wanted && !wanted.every(isId)) throw new ApiError('RESOURCE_NOT_FOUND')
  const rows = await db
    .selectFrom('answer_cases')
    .selectAll()
    .where(ofAgent(ref))
    .$if(wanted !== undefined, (query) => query.where('id', 'in', wanted ?? []))
    .orderBy('id')
    .limit(MAX_CASES)
    .execute()
  if (wanted && rows.length < wanted.length) throw new ApiError('RESOURCE_NOT_FOUND')
  return rows
}

/** Returns the case. Throws RESOURCE_NOT_FOUND. */
export const requireCase = (db: Db, ref: AgentRef, id: string): Promise<CaseRow> =>
  requireRow(db.selectFrom('answer_cases').selectAll().where(ofAgent(ref)), id)

export const presentCase = (row: CaseRow): Static<typeof AnswerCase> => ({
  id: row.id,
  name: row.name,
  ...(row.content as CaseContent),
  conversationId: row.conversation_id,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})

/** Returns the copy of a case that a run keeps. */
export const copyOf = ({ id, name, content, conversation_id }: CaseRow): CaseOfRun => ({
  id,
  name,
  ...(conversation_id === null ? {} : { conversationId: conversation_id }),
  ...(content as CaseContent),
})

/** Refuses what would make the cases of an agent too large, beside the case with the id `except`. */
async function requireRoom(
  db: Db,
  ref: AgentRef,
  contents: readonly CaseContent[],
  except: string | null,
): Promise<void> {
  const { bytes } = await db
    .selectFrom('answer_cases')
    .select(sql<number>`coalesce(sum(octet_length(content::text)), 0)::float8`.as('bytes'))
    .where(ofAgent(ref))
    .where(sql<boolean>`id is distinct from ${except}::uuid`)
    .executeTakeFirstOrThrow()
  if (bytes + Buffer.byteLength(JSON.stringify(contents)) > MAX_BYTES)
    throw invalidField('results', 'All cases of an agent together have at most 10 MB.')
}

type NewCase = Static<typeof AddedAnswerCase>

/** Adds cases, all or none. Throws RESOURCE_NOT_FOUND for a conversation that the agent does not have. */
export async function addCases(db: Db, ref: AgentRef, added: readonly NewCase[]): Promise<CaseRow[]> {
  return transact(db, async (trx) => {
    // An erasure that has begun goes first, and one that begins now finds the case.
    for (const { conversationId } of added)
      if (conversationId) await requireConversation(trx, { ...ref, conversationId }, true)
    await holdAgent(trx, ref)
    const { total } = await listCases(trx, ref, { limit: 1, position: null })
    if (total + added.length > MAX_CASES)
      throw invalidField('name', `An agent has at most ${MAX_CASES} of them. Delete some first.`)
    const rows = added.map(({ name, conversationId = null, ...content }) => {
      requireQuestion(content)
      return { id: newId(), name, conversation_id: conversationId, content }
    })
    await requireRoom(
      trx,
      ref,
      rows.map(({ content }) => content),
      null,
    )
    return trx
      .insertInto('answer_cases')
      .values(
        rows.map((row) => ({
          ...row,
          account_id: ref.accountId,
          agent_id: ref.agentId,
          content: json(row.content),
        })),
      )
      .returningAll()
      .execute()
  })
}

function requireQuestion({ messages, customer }: CaseContent): void {
  if (messages.length === 0 && !customer)
    throw invalidField('messages', 'Write what the customer asks, or describe a `customer` who does.')
  if (customer && messages.length > customer.maxMessages)
    throw invalidField('customer.maxMessages', 'Must be at least the number of `messages`.')
}

/** Replaces the fields that are given, and removes those that are null, in the transaction of the caller. Throws RESOURCE_NOT_FOUND. */
export async function changeCase(
  trx: Trx,
  ref: AgentRef,
  id: string,
  { name, ...content }: Static<typeof AnswerCaseChange>,
): Promise<CaseRow> {
  const row = await requireRow(trx.selectFrom('answer_cases').selectAll().where(ofAgent(ref)).forUpdate(), id)
  const fields = Object.entries({ ...(row.content as CaseContent), ...content })
  const changed = Object.fromEntries(fields.filter(([, value]) => value !== null)) as CaseContent
  requireQuestion(changed)
  await requireRoom(trx, ref, [changed], id)
  return trx
    .updateTable('answer_cases')
    .set({
      name: name ?? row.name,
      content: json(changed),
      updated_at: new Date(),
    })
    .where(ofAgent(ref))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Deletes a case. Throws RESOURCE_NOT_FOUND. */
export async function removeCase(db: Db, ref: AgentRef, id: string): Promise<void> {
  await requireRow(db.selectFrom('answer_cases').select('id').where(ofAgent(ref)), id)
  await db.deleteFrom('answer_cases').where(ofAgent(ref)).where('id', '=', id).execute()
}
