import { type Selectable, sql } from 'kysely'
import { membersOf } from '../../../accounts/records/members.ts'
import { presentAgent } from '../../../agents/records/present.ts'
import { listFullAgents } from '../../../agents/records/queries.ts'
import { allConversations, jsonLine } from '../../../conversations/exports/conversation-lines.ts'
import { exportedSummary } from '../../../conversations/exports/present.ts'
import { presentSource } from '../../../knowledge/sources/present.ts'
import type { SourceRow } from '../../../knowledge/sources/queries.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { ContactsTable } from '../../../platform/db/tables/contacts.ts'
import { byCreation, type Position } from '../../../platform/http/pagination.ts'
import { identitiesOf } from '../../identities/list-identities.ts'
import { exportedContact } from '../person/present.ts'
import { type ExportCounts, leadLines, line, noCounts, ticketLines } from './export-user.ts'

/** The number of rows held in memory at once. */
const PAGE = 100

type Counts = ExportCounts & { members: number; agents: number; sources: number }
type Account = { id: AccountId; name: string; plan: string }

/** Yields everything that an account holds as NDJSON, piece by piece (contract.ts, exportAccount). */
export async function* accountLines(db: Db, { id, name, plan }: Account): AsyncGenerator<string> {
  const counts: Counts = { members: 0, agents: 0, sources: 0, ...noCounts() }
  yield line('account', { id, name, plan })
  for (const member of await membersOf(db, id)) {
    counts.members++
    const { created_at, ...rest } = member
    yield line('member', {
      id: rest.id,
      name: rest.name,
      email: rest.email,
      role: rest.role,
      agentIds: rest.agent_ids,
      createdAt: created_at.toISOString(),
    })
  }
  yield* agentLines(db, id, counts)
  for await (const row of rowsOf<SourceRow>(db, id, 'sources')) {
    counts.sources++
    const { text, questions, answer, filename } = row.content
    const content = { text, questions, answer, filename }
    // The type of the line must not be confused with that of the source.
    const { type: sourceType, ...source } = presentSource(row)
    yield line('source', { ...source, sourceType, agentId: row.agent_id, url: row.url, content })
  }
  for await (const row of rowsOf<Selectable<ContactsTable>>(db, id, 'contacts')) {
    counts.contacts++
    yield line('contact', exportedContact(row, await identitiesOf(db, row)))
  }
  yield* leadLines(db, id, sql`select id from leads where account_id = ${id}`, counts)
  yield* ticketLines(db, id, sql`select id from tickets where account_id = ${id}`, counts)
  yield line('end', counts)
}

async function* agentLines(db: Db, accountId: AccountId, counts: Counts): AsyncGenerator<string> {
  for (let position: Position | null = null; ; ) {
    const { rows }: Awaited<ReturnType<typeof listFullAgents>> = await listFullAgents(db, accountId, {
      limit: PAGE,
      position,
    })
    for (const row of rows.slice(0, PAGE)) {
      counts.agents++
      yield line('agent', presentAgent(row))
      for await (const conversation of allConversations(db, { accountId, agentId: row.id })) {
        counts.conversations++
        const head = { type: 'conversation', agentId: row.id, ...exportedSummary(conversation) }
        yield* jsonLine(db, conversation, head, counts)
      }
    }
    const last = rows[PAGE - 1]
    if (rows.length <= PAGE || !last) return
    position = byCreation(last)
  }
}

async function* rowsOf<Row extends { id: string }>(
  db: Db,
  accountId: AccountId,
  table: 'sources' | 'contacts',
): AsyncGenerator<Row> {
  for (let after: string | null = null; ; ) {
    const { rows }: { rows: Row[] } = await sql<Row>`
      select * from ${sql.table(table)} where account_id = ${accountId}
        and ${after === null ? sql`true` : sql`id > ${after}::uuid`}
      order by id limit ${PAGE}`.execute(db)
    yield* rows
    if (rows.length < PAGE) return
    after = rows.at(-1)?.id ?? null
  }
}
