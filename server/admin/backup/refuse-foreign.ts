import { sql } from 'kysely'
import { isSafePath } from '../../agents/pictures/safe-path.ts'
import type { Trx } from '../../platform/db/database.ts'
import { recordOf } from '../../platform/unknown-values.ts'
import { CommandFailure } from '../command.ts'
import type { ScopedTable } from './account-scope.ts'
import type { AccountLine, Line } from './backup-format.ts'

type Rows = Extract<Line, { kind: 'rows' }>

/** The columns that refer to a row of another table, with or without a foreign key. */
const NAMED: Record<string, string> = {
  agent_id: 'agent_ids',
  contact_id: 'contacts',
  conversation_id: 'conversations',
  generation_id: 'generations',
  message_id: 'messages',
  run_id: 'answer_runs',
  set_id: 'evaluation_sets',
  source_id: 'sources',
  thread_id: 'channel_threads',
  ticket_id: 'tickets',
}

/** Throws for rows of other accounts and rows that name files of others, so that a forged file cannot add them. */
export function refuseForeignRows(line: Rows, owner: string, { id }: AccountLine): void {
  if (line.rows.some((row) => row[owner] !== id))
    throw new CommandFailure(`The export has rows of another account in ${line.table}; nothing was changed.`)
  refuseForeignFiles(line)
}

/** Throws for rows that name a file outside of the folder of their agent. */
export function refuseForeignFiles({ rows, table }: Rows): void {
  if (rows.some((row) => namesForeignFile(table, row)))
    throw new CommandFailure(`A row of ${table} names a file that is not its own; nothing was changed.`)
}

function namesForeignFile(table: string, row: Record<string, unknown>): boolean {
  const owners = [row.account_id, row.agent_id].map(String)
  if (table === 'attachments') return !isSafePath(String(row.path), ...owners, 'attachments')
  if (table !== 'sources') return false
  const { file = null } = recordOf(row.content)
  return file !== null && !isSafePath(String(file), ...owners, String(row.id))
}

/** Throws for a file outside of the files folder, or outside of the account's folder in it. */
export function refuseForeignPath(path: unknown, account: AccountLine | null = null): void {
  if (typeof path !== 'string' || !isSafePath(path, ...(account ? [account.id] : [])))
    throw new CommandFailure(
      `The file contains the path ${JSON.stringify(path)}, which is not valid for a file of Parley; nothing was changed.`,
    )
}

/** Throws when an added row refers to a row of another account, such as its agent or its conversation. */
export async function refuseForeignNames(
  trx: Trx,
  tables: ScopedTable[],
  { id }: AccountLine,
): Promise<void> {
  const owners = new Map<string, string>(tables.map(({ name, owner }) => [name, owner]))
  const { rows: columns } = await sql<{
    table: string
    column: string
    type: string
    target: string | null
    key: string
  }>`
    select c.table_name as table, c.column_name as column, c.udt_name as type, f.target, coalesce(f.key, 'id') as key
    from information_schema.columns c
    left join (
      select conrelid::regclass::text as source, confrelid::regclass::text as target,
        a.attname::text as column, k.attname::text as key
      from pg_constraint
      join pg_attribute a on a.attrelid = conrelid and a.attnum = conkey[1]
      join pg_attribute k on k.attrelid = confrelid and k.attnum = confkey[1]
      where contype = 'f' and array_length(conkey, 1) = 1
    ) f on f.source = c.table_name and f.column = c.column_name
    where c.table_schema = 'public'`.execute(trx)
  const types = new Map(columns.map(({ table, column, type }) => [`${table}.${column}`, type]))
  for (const { table, column, type, target: referenced, key } of columns) {
    const owner = owners.get(table)
    const target = referenced === null || referenced === 'agents' ? NAMED[column] : referenced
    const targetOwner = target === undefined ? undefined : owners.get(target)
    if (!owner || !target || !targetOwner || target === 'accounts') continue
    // The id of a mail is also stored in a column named message_id.
    if (types.get(`${target}.${key}`) !== type) continue
    const { rows } = await sql`
      select from ${sql.table(table)} as one join ${sql.table(target)} as named
        on named.${sql.ref(key)} = one.${sql.ref(column)}
      where one.${sql.ref(owner)} = ${id} and named.${sql.ref(targetOwner)} <> ${id} limit 1`.execute(trx)
    if (rows.length > 0)
      throw new CommandFailure(
        `The export refers to rows of another account in ${table}; nothing was changed.`,
      )
  }
}
