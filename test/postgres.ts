import pg from 'pg'
import { deadlocksIn, findBinaries, OLDEST, startCluster } from './postgres-cluster.ts'

type Prepared =
  | { url: string; version: string; deadlocks(): Promise<string[]>; stop(): Promise<void> }
  | { url: null; reason: string }

/**
 * Prepares a PostgreSQL server for the tests: the one in TEST_DATABASE_URL, or else a new instance of the newest
 * installed version on a free port.
 */
export async function preparePostgres(): Promise<Prepared> {
  const given = process.env.TEST_DATABASE_URL
  if (given) {
    const before = await countDeadlocks(given)
    return {
      url: given,
      version: await versionOf(given),
      // The log of a given server cannot be read, so its counters are used. Those of dropped databases were read when
      // they were dropped.
      async deadlocks() {
        const met = (await countDeadlocks(given)) - before
        return met > 0 ? [`${met} deadlocks by the server's own count`] : []
      },
      stop: async () => {},
    }
  }
  const bin = findBinaries()
  if (!bin) {
    return {
      url: null,
      reason: `No PostgreSQL ${OLDEST} or newer was found and it could not be installed. Install it, or set TEST_DATABASE_URL to a server where databases may be created.`,
    }
  }
  const cluster = await startCluster(bin)
  return {
    url: cluster.url,
    version: await versionOf(cluster.url),
    deadlocks: async () => deadlocksIn(cluster.log()),
    stop: cluster.remove,
  }
}

async function ask<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

async function versionOf(url: string): Promise<string> {
  const [row] = await ask<{ server_version: string }>(url, 'show server_version')
  return row?.server_version.split(' ')[0] ?? '?'
}

async function countDeadlocks(url: string): Promise<number> {
  const [row] = await ask<{ count: string }>(url, 'select sum(deadlocks) as count from pg_stat_database')
  return Number(row?.count ?? 0)
}
