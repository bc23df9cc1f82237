import { type RawBuilder, type Selectable, sql } from 'kysely'
import { jsonLine, type Written } from '../../../conversations/exports/conversation-lines.ts'
import { exportedSummary } from '../../../conversations/exports/present.ts'
import type { ConversationRow } from '../../../conversations/records/queries.ts'
import { presentTicket } from '../../../inbox/tickets/present.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { LeadsTable } from '../../../platform/db/tables/actions.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { TicketMessagesTable, TicketsTable } from '../../../platform/db/tables/helpdesk.ts'
import type { PersonNames } from '../../../platform/db/tables/privacy.ts'
import { identitiesOf } from '../../identities/list-identities.ts'
import { conversationIds, leadIds, ticketIds } from '../person/person-rows.ts'
import { exportedContact, exportedLead, exportedTicketMessage } from '../person/present.ts'

/** The number of rows held in memory at once; for conversations, only of their ids. */
const PAGE = 100
const IDS = 2_000
/** The id that sorts before all others. */
const FIRST = '00000000-0000-0000-0000-000000000000'

export type ExportCounts = Written & { contacts: number; leads: number; tickets: number }

export const noCounts = (): ExportCounts => ({
  contacts: 0,
  conversations: 0,
  messages: 0,
  leads: 0,
  tickets: 0,
})

export const line = (type: string, value: object): string => `${JSON.stringify({ type, ...value })}\n`

/** Yields everything about a person as NDJSON, piece by piece (contract.ts, exportUser), and updates `counts`. */
export async function* userLines(
  db: Db,
  accountId: AccountId,
  person: PersonNames,
  counts: ExportCounts,
): AsyncGenerator<string> {
  yield line('user', person)
  const contacts = await db
    .selectFrom('contacts')
    .selectAll()
    .where('account_id', '=', accountId)
    .where(sql<boolean>`id = any(${person.contactIds}::uuid[])`)
    .orderBy('id')
    .execute()
  for (const row of contacts) yield line('contact', exportedContact(row, await identitiesOf(db, row)))
  counts.contacts = contacts.length
  for await (const ids of idPages(db, accountId, person)) {
    yield* conversationsOf(db, accountId, ids, counts)
    // Rows that belong to the conversation, whoever they refer to.
    const inThese = (table: 'leads' | 'tickets') => sql`
      select id from ${sql.table(table)} where account_id = ${accountId} and conversation_id = any(${ids}::uuid[])`
    yield* leadLines(db, accountId, inThese('leads'), counts)
    yield* ticketLines(db, accountId, inThese('tickets'), counts)
  }
  const rest = elsewhere(accountId, person)
  yield* leadLines(db, accountId, rest('leads', leadIds(accountId, person)), counts)
  yield* ticketLines(db, accountId, rest('tickets', ticketIds(accountId, person)), counts)
  yield line('end', counts)
}

/** Returns those of the ids that were not exported with a conversation of the person. */
const elsewhere =
  (accountId: AccountId, { userIds, contactIds }: PersonNames) =>
  (table: 'leads' | 'tickets', ids: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql`
    select own.id from ${sql.table(table)} as own
    left join conversations as c on c.account_id = ${accountId} and c.id = own.conversation_id
    where own.id in (${ids}) and (c.id is null or not (c.user_id is null and c.contact_id is null
      or coalesce(c.user_id = any(${userIds}::text[]), false)
      or coalesce(c.contact_id = any(${contactIds}::uuid[]), false)))`

async function* idPages(db: Db, accountId: AccountId, person: PersonNames): AsyncGenerator<string[]> {
  for (let after = FIRST; ; ) {
    const wanted = conversationIds(accountId, person, { limit: IDS, after })
    const { rows }: { rows: { id: string }[] } = await sql<{
      id: string
    }>`select id from (${wanted}) as own order by id limit ${IDS}`.execute(db)
    const ids = rows.map(({ id }) => id)
    for (let from = 0; from < ids.length; from += PAGE) yield ids.slice(from, from + PAGE)
    if (ids.length < IDS) return
    after = ids.at(-1) ?? after
  }
}

async function* conversationsOf(
  db: Db,
  accountId: AccountId,
  ids: string[],
  counts: ExportCounts,
): AsyncGenerator<string> {
  const rows: ConversationRow[] = await db
    .selectFrom('conversations')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', 'in', ids)
    .orderBy('id')
    .execute()
  for (const row of rows) {
    counts.conversations++
    const head = { type: 'conversation', agentId: row.agent_id, ...exportedSummary(row) }
    yield* jsonLine(db, row, head, counts, { includeReasoning: false })
  }
}

export async function* leadLines(
  db: Db,
  accountId: AccountId,
  ids: RawBuilder<unknown>,
  counts: ExportCounts,
): AsyncGenerator<string> {
  for await (const row of pages<Selectable<LeadsTable>>(db, accountId, 'leads', ids)) {
    counts.leads++
    yield line('lead', exportedLead(row))
  }
}

export async function* ticketLines(
  db: Db,
  accountId: AccountId,
  ids: RawBuilder<unknown>,
  counts: ExportCounts,
): AsyncGenerator<string> {
  for await (const row of pages<Selectable<TicketsTable>>(db, accountId, 'tickets', ids)) {
    counts.tickets++
    yield* ticketLine(db, row)
  }
}

/** Internal notes of the team are not exported. */
async function* ticketLine(db: Db, row: Selectable<TicketsTable>): AsyncGenerator<string> {
  const head = { type: 'ticket', agentId: row.agent_id, ...presentTicket(row) }
  yield `${JSON.stringify(head).slice(0, -1)},"messages":[`
  const own = sql`select id from ticket_messages
    where account_id = ${row.account_id} and ticket_id = ${row.id} and type = 'reply'`
  let separator = ''
  for await (const message of pages<Selectable<TicketMessagesTable>>(
    db,
    row.account_id,
    'ticket_messages',
    own,
  )) {
    yield separator + JSON.stringify(exportedTicketMessage(message))
    separator = ','
  }
  yield ']}\n'
}

async function* pages<Row extends { id: string }>(
  db: Db,
  accountId: AccountId,
  table: 'leads' | 'tickets' | 'ticket_messages',
  ids: RawBuilder<unknown>,
): AsyncGenerator<Row> {
  for (let after: string | null = null; ; ) {
    const { rows }: { rows: Row[] } = await sql<Row>`
      select * from ${sql.table(table)} where account_id = ${accountId} and id in (${ids})
        and ${after === null ? sql`true` : sql`id > ${after}::uuid`}
      order by id limit ${PAGE}`.execute(db)
    yield* rows
    if (rows.length < PAGE) return
    after = rows.at(-1)?.id ?? null
  }
}
