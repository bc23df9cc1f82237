import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import pg from 'pg'
import { deadlocksIn, findBinaries, OLDEST, startCluster } from './postgres-cluster.ts'

type Prepared =
  | { url: string; version: string; deadlocks(): Promise<string[]>; stop(): Promise<void> }
  | { url: null; reason: string }

/**
 * A PostgreSQL for the tests: the one TEST_DATABASE_URL names, else an own instance of the newest installed
 * server on a free port; as root on Debian it is installed when absent.
 */
export async function preparePostgres(): Promise<Prepared> {
  const given = process.env.TEST_DATABASE_URL
  if (given) {
    const before = await countDeadlocks(given)
    return {
      url: given,
      version: await versionOf(given),
      // Its log is out of reach. A database that was dropped had its own count read by who dropped it.
      async deadlocks() {
        const met = (await countDeadlocks(given)) - before
        return met > 0 ? [`${met} deadlocks by the server's own count`] : []
      },
      stop: async () => {},
    }
  }
  const isRoot = process.getuid?.() === 0
  let bin = findBinaries()
  if (!bin && isRoot && existsSync('/etc/debian_version')) {
    console.log('\nInstalling PostgreSQL from the Debian packages …')
    install()
    bin = findBinaries()
  }
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

function install(): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  spawnSync('apt-get', ['update', '-qq'], { stdio: 'inherit', env })
  // Without a cluster of its own: the tests start theirs.
  spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'postgresql'], {
    stdio: 'inherit',
    env,
  })
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
