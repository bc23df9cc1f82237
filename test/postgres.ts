import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'

type Prepared = { url: string; version: string; stop(): Promise<void> } | { url: null; reason: string }

const OLDEST = 15

/**
 * A PostgreSQL for the tests: the one TEST_DATABASE_URL names, else an own instance of the newest installed
 * server on a free port; as root on Debian it is installed when absent.
 */
export async function preparePostgres(): Promise<Prepared> {
  const given = process.env.TEST_DATABASE_URL
  if (given) return { url: given, version: await versionOf(given), stop: async () => {} }
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
  return startInstance(bin, isRoot)
}

function findBinaries(): string | null {
  const folder = '/usr/lib/postgresql'
  const versions = existsSync(folder)
    ? readdirSync(folder)
        .map(Number)
        .filter((version) => version >= OLDEST)
    : []
  const newest = versions
    .sort((a, b) => b - a)
    .find((version) => existsSync(`${folder}/${version}/bin/initdb`))
  if (newest) return `${folder}/${newest}/bin`
  const onPath = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' }).stdout?.trim()
  return onPath && existsSync(join(onPath, 'initdb')) ? onPath : null
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

/** PostgreSQL refuses to run as root: then everything is done as the user postgres. */
async function startInstance(bin: string, isRoot: boolean): Promise<Prepared> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-pg-'))
  if (isRoot) {
    const [uid, gid] = ['-u', '-g'].map((flag) =>
      Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' })),
    )
    chownSync(folder, uid!, gid!)
  }
  const run = (command: string, args: string[]): void => {
    const [program, all] = isRoot ? ['runuser', ['-u', 'postgres', '--', command, ...args]] : [command, args]
    execFileSync(program as string, all as string[], { stdio: ['ignore', 'ignore', 'inherit'], cwd: folder })
  }
  const data = join(folder, 'data')
  const port = await freePort()
  run(`${bin}/initdb`, [
    '-D',
    data,
    '-A',
    'trust',
    '-U',
    'postgres',
    '--no-sync',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
  ])
  // The tests kill the service, never the database: it need not wait for the disk.
  const options = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c max_connections=200 -c fsync=off -c full_page_writes=off`
  run(`${bin}/pg_ctl`, ['-D', data, '-l', join(folder, 'log'), '-o', options, '-w', 'start'])
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  return {
    url,
    version: await versionOf(url),
    async stop() {
      run(`${bin}/pg_ctl`, ['-D', data, '-m', 'immediate', 'stop'])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function versionOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ server_version: string }>('show server_version')
  await client.end()
  return rows[0]?.server_version.split(' ')[0] ?? '?'
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
