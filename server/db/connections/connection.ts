import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import pg from 'pg'
import {
  batch,
  forgetPrepared,
  isStale,
  type PreparedStatements,
  type Sent,
  type StatementResult,
} from '../statements/batch.ts'
import { statementSent } from '../statements/statement-sent.ts'
import { noteConnectionError } from './unavailable.ts'

/**
 * A Kysely connection that sends `begin` together with the first statement, and sends statements that are started
 * together in one write.
 */
export type Connection = DatabaseConnection & {
  /** Queues a statement at once, so that it is sent before all later ones. */
  send(query: CompiledQuery): Promise<QueryResult<unknown>>
  begin(text: string): void
  /** Throws when the transaction could not be committed. */
  commit(): Promise<void>
  /** Never throws: a connection that cannot roll back is broken. */
  rollback(): Promise<void>
  /** Whether the connection must not be reused, because it is dead or its transaction is in doubt. */
  broken(): boolean
}

type Waiting = Sent & {
  /** Whether it can be sent together with other statements: it belongs to a transaction and is a single statement. */
  readonly together: boolean
}

const WITH_COUNT = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } }).utils

/**
 * How often a statement of a pool's connections has turned out to be stale. All of them prepare their statements again
 * then, so that a migration of another process fails at most one statement or transaction of each caller.
 */
export type Staleness = { times: number }

/**
 * Opens a connection that sends the statements of one turn of the event loop in one write. Later statements wait for
 * its response. `staleness` is that of its pool.
 */
export function openConnection(client: pg.PoolClient, staleness: Staleness): Connection {
  const prepared: PreparedStatements = new Map()
  const typeParser = client.getTypeParser.bind(client) as pg.CustomTypesConfig['getTypeParser']
  let waiting: Waiting[] = []
  let state: 'free' | 'beginning' | 'inside' = 'free'
  let beginText = ''
  let sending = false
  let scheduled = false
  let isBroken = false
  let known = staleness.times
  client.on('error', () => {
    isBroken = true
  })

  const push = (statement: Waiting): void => {
    if (isBroken) {
      const lost = new Error('The connection to the database is lost.')
      noteConnectionError(lost)
      statement.reject(lost)
      return
    }
    waiting.push(statement)
    if (sending || scheduled) return
    scheduled = true
    // It runs after everything that is ready to run, so that all statements started together have been queued by
    // then.
    process.nextTick(flush)
  }

  const enqueue = (text: string, values: readonly unknown[], together: boolean): Promise<StatementResult> => {
    const encoded = values.map(prepareValue)
    return new Promise((resolve, reject) => push({ text, values: encoded, together, resolve, reject }))
  }

  const pushBegin = (together: boolean): void => {
    state = 'inside'
    // If `begin` failed, none of the statements of the transaction may run.
    const reject = (error: unknown): void => {
      isBroken = true
      const meant = waiting
      waiting = []
      for (const statement of meant) statement.reject(error)
    }
    push({ text: beginText, values: [], together, resolve() {}, reject })
  }

  const flush = (): void => {
    scheduled = false
    if (waiting.length === 0) return
    sending = true
    const alone = waiting.findIndex(({ together }) => !together)
    const now = alone === -1 ? waiting : waiting.slice(0, Math.max(1, alone))
    waiting = alone === -1 ? [] : waiting.slice(now.length)
    const [first] = now as [Waiting]
    if (known !== staleness.times) forgetPrepared(prepared)
    known = staleness.times
    if (isScript(first)) void runScript(first)
    else client.query(batch(now, prepared, typeParser, sent))
  }

  const sent = (error: unknown): void => {
    sending = false
    if (error !== undefined && !isFromServer(error)) isBroken = true
    if (isStale(error)) staleness.times++
    flush()
  }

  const runScript = async ({ text, resolve, reject }: Waiting): Promise<void> => {
    let failure: unknown
    try {
      const results: pg.QueryResult | pg.QueryResult[] = await client.query(text)
      const rows = [results].flat().flatMap((result) => result.rows)
      resolve({ command: '', affected: 0, rows })
    } catch (error) {
      failure = error
      reject(error)
    }
    sent(failure)
  }

  const send = async (query: CompiledQuery): Promise<QueryResult<unknown>> => {
    if (statementSent.hasSubscribers) statementSent.publish(query.sql)
    const together = state !== 'free' && !isScript({ text: query.sql, values: query.parameters })
    const isAlone = state === 'free'
    if (state === 'beginning') pushBegin(together)
    const run = () => enqueue(query.sql, query.parameters, together)
    try {
      const { command, affected, rows } = await run().catch((error: unknown) => {
        // A transaction is retried by `transact`.
        if (isAlone && isStale(error)) return run()
        throw error
      })
      return WITH_COUNT.has(command) ? { rows, numAffectedRows: BigInt(affected) } : { rows }
    } catch (error) {
      // The stack shows the caller of the query instead of the reader of the response.
      if (error instanceof Error) Error.captureStackTrace(error)
      throw error
    }
  }

  return {
    send,
    executeQuery: <R>(query: CompiledQuery) => send(query) as Promise<QueryResult<R>>,
    begin(text) {
      beginText = text
      state = 'beginning'
    },
    async commit() {
      if (state === 'inside') {
        const { command } = await enqueue('commit', [], true)
        state = 'free'
        if (command !== 'COMMIT')
          throw new Error('The transaction was rolled back: a statement in it had failed.')
      }
      state = 'free'
    },
    async rollback() {
      const begun = state === 'inside'
      state = 'free'
      if (!begun || isBroken) return
      await enqueue('rollback', [], false).catch(() => {
        isBroken = true
      })
    },
    broken: () => isBroken || state !== 'free' || sending || waiting.length > 0,
    streamQuery() {
      throw new Error('Streaming a query is not possible: page through it instead.')
    },
  }
}

/**
 * Runs a script (a migration, the job queue's schema) of several statements, which only the simple protocol accepts.
 */
const isScript = ({ text, values }: { text: string; values: readonly unknown[] }): boolean =>
  values.length === 0 && text.includes(';')

const isFromServer = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.severity !== 'FATAL' && error.severity !== 'PANIC'
