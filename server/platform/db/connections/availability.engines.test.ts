import assert from 'node:assert/strict'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { onPostgres } from '../../../../test/database.ts'
import { type Answer, type Client, clientOf, type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { type Db, openPostgres } from '../database.ts'

/** A proxy in front of the database that can lose connections. */
type Proxy = {
  url: string
  /** Open connections stay open, but no more bytes pass. */
  silence(): void
  /** What happens to new connections. */
  newOnes: 'served' | 'silent' | 'refused'
  reset(): void
  close(): void
}

async function startProxy(target: string): Promise<Proxy> {
  const url = new URL(target)
  const { hostname, port } = url
  const pairs = new Set<[Socket, Socket]>()
  const lost = new Set<[Socket, Socket]>()
  const server = createServer((near) => {
    near.on('error', () => {})
    if (proxy.newOnes === 'refused') return void near.resetAndDestroy()
    if (proxy.newOnes === 'silent') return
    const far = connect(Number(port), hostname).on('error', () => {})
    const pair: [Socket, Socket] = [near, far]
    pairs.add(pair)
    near.pipe(far)
    far.pipe(near)
    near.on('close', () => pairs.delete(pair) && far.destroy())
    far.on('close', () => pairs.delete(pair) && near.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url.port = String((server.address() as AddressInfo).port)
  const proxy: Proxy = {
    url: url.href,
    newOnes: 'served',
    silence() {
      for (const pair of pairs) {
        for (const socket of pair) socket.unpipe().pause()
        lost.add(pair)
      }
      // The server is not told when the service abandons a connection.
      pairs.clear()
    },
    reset() {
      for (const [near] of pairs) near.resetAndDestroy()
    },
    close() {
      server.close()
      for (const pair of [...pairs, ...lost]) for (const socket of pair) socket.destroy()
    },
  }
  return proxy
}

const options = { skip: !onPostgres() && 'the embedded database is in the process' }
let home: Service
let proxy: Proxy
let service: Service
let client: Client

before(async () => {
  if (!onPostgres()) return
  home = await startService({ LOG_LEVEL: 'silent' }, undefined, { idle: true })
  proxy = await startProxy(home.databaseUrl as string)
  service = await startService({ LOG_LEVEL: 'silent' }, { ...home, databaseUrl: proxy.url })
  const { key, accountId } = await home.account()
  client = clientOf(service.url, key, accountId)
})
after(async () => {
  await service?.close()
  proxy?.close()
  await home?.close()
})

const health = () => service.anonymous('GET', '/health')
const back = () => until('the database', async () => (await health()).status === 200)
const away = () => until('the absence', async () => (await health()).status === 503)

function assertRefused({ status, body }: Answer): void {
  assert.equal(status, 503, JSON.stringify(body))
  assert.equal(body.error.code, 'SERVICE_OVERLOADED')
}

// A failing step must not prevent the others.
beforeEach(async () => {
  if (!onPostgres()) return
  proxy.newOnes = 'served'
  await back()
})

/** Releases what a failing test would leave running. */
const stops = new Set<() => void>()
afterEach(() => {
  for (const stop of stops) stop()
  stops.clear()
})

/** Creates agents, four at a time, until told to stop. Returns how many were created. */
function createAgents(): () => Promise<number> {
  let stopped = false
  stops.add(() => {
    stopped = true
  })
  let created = 0
  const work = async (): Promise<void> => {
    while (!stopped) {
      const answer = await client.request('POST', '/agents', { name: 'A' })
      if (answer.status === 201) created += 1
      else assertRefused(answer)
      await wait(40)
    }
  }
  const all = Promise.all([work(), work(), work(), work()])
  return async () => {
    stopped = true
    await all
    return created
  }
}

test('a process survives when its connections are ended and reset while in use', options, async () => {
  const stop = createAgents()
  for (let i = 0; i < 20; i++) {
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(home.ctx.db)
    await wait(50)
    proxy.reset()
    await wait(50)
  }
  await stop()
  await back()
  assert.equal((await client.request('POST', '/agents', { name: 'B' })).status, 201)
})

test('transactions that lose their connection are rejected and leave nothing behind', options, async () => {
  const { db } = service.ctx
  const lost = db.transaction().execute(async (trx) => {
    await sql`insert into settings (name, value) values ('lost', '1')`.execute(trx)
    proxy.reset()
    await wait(50)
    await sql`select 1`.execute(trx)
  })
  await assert.rejects(lost)
  const { rows } = await sql`select from settings where name = 'lost'`.execute(home.ctx.db)
  assert.equal(rows.length, 0)
})

test(
  'while a database refuses connections, requests get 503 at once, and are served again when it is back',
  options,
  async () => {
    proxy.newOnes = 'refused'
    proxy.reset()
    await away()
    const { body } = await health()
    assert.match(body.error.message, /cannot be reached/)
    assertRefused(await client.request('GET', '/agents'))
    proxy.newOnes = 'served'
    await back()
    assert.equal((await client.request('GET', '/agents')).status, 200)
  },
)

test('a database that stops responding is unavailable, also for requests in progress', options, async () => {
  assert.equal((await client.request('GET', '/agents')).status, 200)
  proxy.newOnes = 'silent'
  proxy.silence()
  const answers = await Promise.all(Array.from({ length: 30 }, () => client.request('GET', '/agents')))
  for (const answer of answers) assertRefused(answer)
  assert.match((await health()).body.error.message, /does not respond/)
  proxy.newOnes = 'served'
  await back()
  assert.equal((await client.request('GET', '/agents')).status, 200)
})

test(
  'connections that were silently lost are given up while the database is available',
  options,
  async () => {
    assert.equal((await client.request('GET', '/agents')).status, 200)
    proxy.silence()
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.request('GET', '/agents')))
    for (const answer of answers) if (answer.status !== 200) assertRefused(answer)
    assert.equal((await health()).status, 200)
    assert.equal((await client.request('GET', '/agents')).status, 200)
  },
)

test('a lock of a silently lost connection is released within seconds', options, async () => {
  const { db } = home.ctx
  await sql`insert into settings (name, value) values ('held', '1')`.execute(db)
  const locked = Promise.withResolvers<void>()
  const lost = service.ctx.db.transaction().execute(async (trx) => {
    await sql`update settings set value = '2' where name = 'held'`.execute(trx)
    proxy.silence()
    locked.resolve()
    await sql`select 1`.execute(trx)
  })
  const refused = assert.rejects(lost)
  await locked.promise
  // A request waits ten seconds for a lock before it is refused.
  await sql`update settings set value = '3' where name = 'held'`.execute(db)
  await refused
})

test('a pool is closed although the server stops responding meanwhile', options, async () => {
  const between = await startProxy(home.databaseUrl as string)
  const other = openPostgres(between.url, 3)
  await Promise.all([1, 2].map(() => sql`select pg_sleep(0.1)`.execute(other.db)))
  const last = assert.rejects(sql`select pg_sleep(600)`.execute(other.db))
  await wait(100)
  const closing = other.close()
  between.silence()
  between.newOnes = 'silent'
  await Promise.all([closing, last])
  between.close()
})

test('a slow statement does not count as a silent database', options, async () => {
  await sql`select pg_sleep(4)`.execute(service.ctx.db)
  assert.equal((await health()).status, 200)
})

test('a database that is read-only is unavailable', options, async () => {
  const readOnly = (on: boolean) =>
    sql`${sql.raw(`alter database ${new URL(proxy.url).pathname.slice(1)} set default_transaction_read_only = ${on}`)}`.execute(
      home.ctx.db,
    )
  await readOnly(true)
  try {
    proxy.reset()
    await wait(100)
    assertRefused(await client.request('POST', '/agents', { name: 'C' }))
    await until('the absence', async () => /read-only/.test((await health()).body.error?.message ?? ''))
  } finally {
    await sql`set default_transaction_read_only = off`.execute(home.ctx.db)
    await readOnly(false)
  }
  proxy.reset()
  await back()
  assert.equal((await client.request('POST', '/agents', { name: 'C' })).status, 201)
})

test('the server cancels statements that take too long, except for commands', options, async () => {
  const limitOf = async ({ db }: { db: Db }) =>
    (await sql<{ statement_timeout: string }>`show statement_timeout`.execute(db)).rows[0]?.statement_timeout
  assert.equal(await limitOf(service.ctx), '30s')
  const patient = openPostgres(proxy.url, 1, { patient: true })
  assert.equal(await limitOf(patient), '0')
  await patient.close()
})
