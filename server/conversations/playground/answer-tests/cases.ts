import { type Selectable, sql } from 'kysely'
import type { Db } from '../../../platform/db/database.ts'
import { isId, newId } from '../../../platform/db/ids.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { AnswerCasesTable } from '../../../platform/db/tables/conversations.ts'
import { ApiError, invalidField } from '../../../platform/http/errors.ts'
import { newestFirst, type PageRequest } from '../../../platform/http/pagination.ts'
import { requireRow } from '../../../platform/http/require-row.ts'
import type { CaseContent } from './schema.ts'

export type CaseRow = Selectable<AnswerCasesTable>

const MAX_CASES = 500
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

/** Refuses what would make the cases of an agent too large, beside the case with the id `except`. */
async function requireRoom(
  db: Db,
  ref: AgentRef,
  content: CaseContent,
  except: string | null,
): Promise<void> {
  const { bytes } = await db
    .selectFrom('answer_cases')
    .select(sql<number>`coalesce(sum(octet_length(content::text)), 0)::float8`.as('bytes'))
    .where(ofAgent(ref))
    .where(sql<boolean>`id is distinct from ${except}::uuid`)
    .executeTakeFirstOrThrow()
  if (bytes + Buffer.byteLength(JSON.stringify(content)) > MAX_BYTES)
    throw invalidField('results', 'All cases of an agent together have at most 10 MB.')
}

export async function addCase(db: Db, ref: AgentRef, name: string, content: CaseContent): Promise<CaseRow> {
  const { total } = await listCases(db, ref, { limit: 1, position: null })
  if (total >= MAX_CASES)
    throw invalidField('name', `An agent has at most ${MAX_CASES} of them. Delete one first.`)
  await requireRoom(db, ref, content, null)
  return db
    .insertInto('answer_cases')
    .values({ id: newId(), account_id: ref.accountId, agent_id: ref.agentId, name, content: json(content) })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Replaces the fields that are given. Throws RESOURCE_NOT_FOUND. */
export async function changeCase(
  db: Db,
  ref: AgentRef,
  id: string,
  { name, ...content }: Partial<CaseContent> & { name?: string },
): Promise<CaseRow> {
  const row = await requireRow(db.selectFrom('answer_cases').selectAll().where(ofAgent(ref)).forUpdate(), id)
  const changed = { ...(row.content as CaseContent), ...content }
  await requireRoom(db, ref, changed, id)
  return db
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
