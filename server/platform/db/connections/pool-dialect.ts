import { createHash } from 'node:crypto'
import { type Dialect, PostgresDialect, type PostgresPoolClient, type PostgresQueryResult } from 'kysely'
import type pg from 'pg'
import { statementSent } from '../statements/statement-sent.ts'
import { isStale } from './database-errors.ts'
import type { Lanes } from './lanes.ts'

/** The part of a pg pool that is used here. */
type Connections = {
  connect(): Promise<pg.PoolClient>
  end(): Promise<void>
  /** Is told of each statement that is sent to the server. */
  watch?(client: pg.PoolClient, response: Promise<unknown>): void
}

/** Returns Kysely's own dialect over a pool of connections, which callers wait for in `lanes`. */
export function poolDialect(pool: Connections, lanes: Lanes): Dialect {
  const names = createStatementNames()
  return new PostgresDialect({
    pool: {
      options: {},
      end: () => pool.end(),
      async connect() {
        const leave = await lanes.enter()
        try {
          return poolClient(pool, await pool.connect(), names, leave)
        } catch (error) {
          leave()
          throw error
        }
      },
    },
  })
}

function poolClient(
  pool: Connections,
  client: pg.PoolClient,
  names: StatementNames,
  leave: () => void,
): PostgresPoolClient {
  const run = async (text: string, values: readonly unknown[]): Promise<PostgresQueryResult<unknown>> => {
    // Without values, the text may be a script of several statements, which cannot be prepared.
    const name = values.length === 0 ? undefined : names.nameOf(text)
    const response = client.query({ name, text, values: [...values] } as pg.QueryConfig)
    pool.watch?.(client, response)
    const result = await response
    const rows = Array.isArray(result) ? result.flatMap((one: pg.QueryResult) => one.rows) : result.rows
    return { ...result, rows } as PostgresQueryResult<unknown>
  }
  const query = async (text: string, values: readonly unknown[]): Promise<PostgresQueryResult<unknown>> => {
    if (statementSent.hasSubscribers) statementSent.publish(text)
    try {
      return await run(text, values)
    } catch (error) {
      if (!isStale(error)) throw error
      names.renew()
      // A transaction is retried by `transact`.
      if (client.getTransactionStatus() !== 'I') throw error
      return run(text, values)
    }
  }
  return {
    query: query as PostgresPoolClient['query'],
    release(destroy) {
      client.release(destroy)
      leave()
    },
  }
}

/** The most texts that a connection keeps prepared. */
const MAX_NAMES = 1_000

type StatementNames = {
  /** Returns the name under which a connection prepares this text; undefined for one that is not to be prepared. */
  nameOf(text: string): string | undefined
  /** Has every statement prepared again, because the server has forgotten some or a migration has changed their columns. */
  renew(): void
}

/**
 * Names the statements that are worth being prepared: those that are run again. They are named after their text and not
 * numbered: behind a pooler, several processes may share a connection.
 */
function createStatementNames(): StatementNames {
  const names = new Map<string, string>()
  const seen = new Set<string>()
  let version = 0
  return {
    nameOf(text) {
      const known = names.get(text)
      if (known !== undefined || names.size === MAX_NAMES) return known
      if (!seen.has(text)) {
        if (seen.size === MAX_NAMES) seen.clear()
        seen.add(text)
        return undefined
      }
      const name = createHash('sha1').update(`${version} ${text}`).digest('base64url')
      names.set(text, name)
      return name
    },
    renew() {
      version++
      names.clear()
    },
  }
}
