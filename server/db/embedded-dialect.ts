import type { PGlite } from '@electric-sql/pglite'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'

/**
 * Kysely dialect over one PGlite instance.
 *
 * Kysely's own PGlite dialect hands the same connection to everybody, so a query made while somebody else's
 * transaction is open runs inside that transaction and is lost with its rollback. Here a connection is held
 * by one user at a time, in order of arrival.
 */
export function embeddedDialect(pglite: PGlite): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => embeddedDriver(pglite),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

function embeddedDriver(pglite: PGlite): Driver {
  const connection = embeddedConnection(pglite)
  const waiting: (() => void)[] = []
  let held = false
  return {
    async init() {
      await pglite.waitReady
    },
    async acquireConnection() {
      if (held) await new Promise<void>((resolve) => waiting.push(resolve))
      held = true
      return connection
    },
    async releaseConnection() {
      const next = waiting.shift()
      if (next) next()
      else held = false
    },
    async beginTransaction(_connection, settings) {
      const level = settings.isolationLevel ? ` isolation level ${settings.isolationLevel}` : ''
      await pglite.query(`begin${level}`)
    },
    async commitTransaction() {
      await pglite.query('commit')
    },
    async rollbackTransaction() {
      await pglite.query('rollback')
    },
    async destroy() {
      if (!pglite.closed) await pglite.close()
    },
  }
}

function embeddedConnection(pglite: PGlite): DatabaseConnection {
  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      if (query.query.kind === 'RawNode' && query.parameters.length === 0) {
        // Scripts (migrations, the job queue's schema) hold many statements, which query() refuses.
        const results = await pglite.exec(query.sql)
        return { rows: results.flatMap((result) => result.rows) as R[] }
      }
      const result = await pglite.query<R>(query.sql, [...query.parameters])
      return { rows: result.rows, numAffectedRows: BigInt(result.affectedRows ?? 0) }
    },
    streamQuery() {
      throw new Error('Streaming a query is not possible on the embedded database: page through it instead.')
    },
  }
}
