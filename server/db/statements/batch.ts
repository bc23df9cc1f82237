import { createHash } from 'node:crypto'
import type pg from 'pg'

/** A statement on its way to the server, with its values encoded for the protocol. */
export type Sent = {
  readonly text: string
  readonly values: readonly unknown[]
  resolve(result: StatementResult): void
  reject(error: unknown): void
}

export type StatementResult = { command: string; affected: number; rows: Record<string, unknown>[] }

type Column = { name: string; parse(value: string): unknown }

/** A prepared statement; `columns` is null until it has been described. */
type Prepared = { name: string; columns: Column[] | null }

/** The statements that a connection has prepared, the least recently used first. */
export type PreparedStatements = Map<string, Prepared>

const UNKNOWN = '26000'
const NOT_SUPPORTED = '0A000'

/**
 * Whether the statement was not run because the server has forgotten it, or a migration has changed the columns of its
 * result since it was prepared. It succeeds once it is prepared again.
 */
export function isStale(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as { code?: string; routine?: string }
  return code === UNKNOWN || (code === NOT_SUPPORTED && routine === 'RevalidateCachedQuery')
}

const MOST_PREPARED = 500

/** Thrown for a statement that was not run because one that was sent with it, before it, had failed. */
class NotRun extends Error {
  override name = 'NotRun'
  readonly code = '25P02'
}

type Wire = {
  stream: { cork(): void; uncork(): void }
  parse(message: { name: string; text: string }): void
  bind(message: { portal: string; statement: string; values: readonly unknown[] }): void
  describe(message: { type: 'P'; name: string }): void
  execute(message: { portal: string; rows: number }): void
  close(message: { type: 'S'; name: string }): void
  sync(): void
}

/**
 * Returns a submittable for a client of pg that sends all statements and then one Sync. The server stops at the first
 * that fails and skips the rest. Each text is parsed and described once per connection.
 */
export function batch(
  sent: readonly Sent[],
  prepared: PreparedStatements,
  typeParser: pg.CustomTypesConfig['getTypeParser'],
  done: (error: unknown) => void,
): pg.Submittable {
  const known: Prepared[] = []
  const results: StatementResult[] = []
  let rows: Record<string, unknown>[] = []
  /** A value that cannot be parsed fails only its own statement. */
  const unreadable = new Map<number, unknown>()

  /** With pg's query_timeout, the timer makes the first call. */
  let settled = false
  const settle = (failure: unknown): void => {
    if (settled) return
    settled = true
    const failed = failure === undefined ? sent.length : Math.min(results.length, sent.length - 1)
    for (const [i, statement] of sent.entries()) {
      if (i < failed && unreadable.has(i)) statement.reject(unreadable.get(i))
      else if (i < failed) statement.resolve(results[i] as StatementResult)
      else if (i === failed) statement.reject(failure)
      else statement.reject(new NotRun('A statement before this one has failed.', { cause: failure }))
    }
    done(failure)
  }

  const self = {
    callback: (_error?: unknown): void => {},
    submit(wire: Wire) {
      wire.stream.cork()
      for (const { text, values } of sent) {
        const statement = prepare(wire, prepared, text)
        known.push(statement)
        wire.bind({ portal: '', statement: statement.name, values })
        if (!statement.columns) wire.describe({ type: 'P', name: '' })
        wire.execute({ portal: '', rows: 0 })
      }
      wire.sync()
      wire.stream.uncork()
    },
    handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }) {
      const statement = known[results.length] as Prepared
      statement.columns = fields.map(({ name, dataTypeID }) => ({
        name,
        parse: typeParser(dataTypeID, 'text'),
      }))
    },
    handleDataRow({ fields }: { fields: (string | null)[] }) {
      const columns = (known[results.length] as Prepared).columns as Column[]
      const row: Record<string, unknown> = {}
      try {
        for (let i = 0; i < columns.length; i++) {
          const { name, parse } = columns[i] as Column
          const value = fields[i] as string | null
          row[name] = value === null ? null : parse(value)
        }
        rows.push(row)
      } catch (error) {
        if (!unreadable.has(results.length)) unreadable.set(results.length, error)
      }
    },
    handleCommandComplete({ text }: { text: string }) {
      const statement = known[results.length] as Prepared
      statement.columns ??= []
      results.push({
        command: text.split(' ', 1)[0] as string,
        affected: Number(/\d+$/.exec(text)?.[0] ?? 0),
        rows,
      })
      rows = []
    },
    handleEmptyQuery() {
      results.push({ command: '', affected: 0, rows: [] })
    },
    handlePortalSuspended() {},
    handleCopyInResponse(wire: { sendCopyFail(reason: string): void }) {
      wire.sendCopyFail('COPY is not possible here.')
    },
    handleCopyData() {},
    handleError(error: unknown) {
      self.callback(error)
      settle(error)
    },
    handleReadyForQuery() {
      self.callback()
      settle(undefined)
    },
  }
  return self as unknown as pg.Submittable
}

function prepare(wire: Wire, prepared: PreparedStatements, text: string): Prepared {
  const known = prepared.get(text)
  prepared.delete(text)
  // Statements are named after their text and not numbered: behind a pooler, several processes may share a connection.
  const statement = known ?? { name: createHash('sha1').update(text).digest('base64url'), columns: null }
  prepared.set(text, statement)
  if (statement.columns) return statement
  // Closing a statement that does not exist is not an error, and an earlier attempt may have prepared it before it
  // failed.
  wire.close({ type: 'S', name: statement.name })
  wire.parse({ name: statement.name, text })
  if (prepared.size > MOST_PREPARED) {
    const [oldest, { name }] = prepared.entries().next().value as [string, Prepared]
    prepared.delete(oldest)
    wire.close({ type: 'S', name })
  }
  return statement
}

/** Has every statement prepared again when it is next used. */
export function forgetPrepared(prepared: PreparedStatements): void {
  for (const statement of prepared.values()) statement.columns = null
}
