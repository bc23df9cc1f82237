import {
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type TransactionSettings,
} from 'kysely'
import type pg from 'pg'
import { type Connection, openConnection, type Staleness } from './connection.ts'
import type { Lanes } from './lanes.ts'

/** The part of a pg pool that is used here. */
type Connections = { connect(): Promise<pg.PoolClient>; end(): Promise<void> }

/**
 * Returns a Kysely dialect over a pool of connections, which callers wait for in `lanes`. See `openConnection` for
 * how it saves round trips.
 */
export function poolDialect(pool: Connections, lanes: Lanes | null = null): Dialect {
  return { ...postgresParts, createDriver: () => poolDriver(pool, lanes) }
}

export const postgresParts: Omit<Dialect, 'createDriver'> = {
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
}

function poolDriver(pool: Connections, lanes: Lanes | null): Driver {
  const clients = new WeakMap<DatabaseConnection, pg.PoolClient>()
  const connections = new WeakMap<pg.PoolClient, Connection>()
  const leaves = new WeakMap<DatabaseConnection, () => void>()
  const staleness: Staleness = { times: 0 }
  const of = (connection: DatabaseConnection): Connection => connection as Connection
  return {
    async init() {},
    async acquireConnection() {
      const leave = await lanes?.enter()
      const client = await pool.connect().catch((error: unknown) => {
        leave?.()
        throw error
      })
      const connection = connections.get(client) ?? openConnection(client, staleness)
      connections.set(client, connection)
      clients.set(connection, client)
      if (leave) leaves.set(connection, leave)
      return connection
    },
    async releaseConnection(connection) {
      const leave = leaves.get(connection)
      clients.get(connection)?.release(of(connection).broken())
      leave?.()
    },
    async beginTransaction(connection, settings) {
      of(connection).begin(beginning(settings))
    },
    commitTransaction: (connection) => of(connection).commit(),
    rollbackTransaction: (connection) => of(connection).rollback(),
    destroy: () => pool.end(),
  }
}

function beginning({ isolationLevel, accessMode }: TransactionSettings): string {
  return ['begin', isolationLevel && `isolation level ${isolationLevel}`, accessMode]
    .filter(Boolean)
    .join(' ')
}
