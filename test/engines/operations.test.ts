import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { openEmbedded, openPostgres } from '../../server/platform/db/database.ts'
import { onPostgres } from '../database.ts'
import { startModelServer } from '../fakes/model-server.ts'
import { tokens } from '../fakes/reply.ts'
import { readStream } from '../read-stream.ts'
import { failedStart, type Home, newHome, parley, spawnService } from '../spawn-service.ts'

const oneLine = (text: string): string => {
  assert.equal(text.trim().split('\n').length, 1, text)
  return text.trim()
}

/** These tests do not use the database, or only the embedded one. */
const skip = onPostgres() && 'It runs when TEST_DATABASE_URL is not set.'

test('a port in use on the first start does not cost the key that is shown only once', { skip }, async () => {
  const home = await newHome({ embedded: true, empty: true })
  const holder = createServer()
  await new Promise<void>((ready) => holder.listen(0, '127.0.0.1', ready))
  const { port } = holder.address() as { port: number }
  const refused = await failedStart({ ...home.env, PORT: String(port) })
  assert.equal(refused.code, 69)
  assert.match(oneLine(refused.stderr), /in use by another program/)
  holder.close()
  const service = await spawnService(home.env)
  assert.match(service.output, /API key \(shown this once\): parley_/)
  // The failed start does not cost the setup link of the workspace either. The link works exactly as printed.
  const [, origin = '', token = ''] = /(http:\S+)\/setup#([\w-]{43})\n/.exec(service.output) ?? []
  const owner = { token, name: 'Olga', email: 'olga@example.com', password: 'a password of some length' }
  const taken = await fetch(`${origin}/api/v2/set-up`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(owner),
  })
  assert.equal(taken.status, 201, await taken.text())
  const entered = await fetch(`${origin}/api/v2/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin, 'x-parley-session': '1' },
    body: JSON.stringify({ email: owner.email, password: owner.password }),
  })
  assert.equal(entered.status, 200, await entered.text())
  const cookie = entered.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const me = (await (await fetch(`${origin}/api/v2/me`, { headers: { cookie } })).json()) as {
    member: { role: string }
  }
  assert.equal(me.member.role, 'owner')
  await service.kill('SIGKILL')
  await home.remove()
})

test('a command that arrives while the service starts is answered by it', { skip }, async () => {
  const home = await newHome({ embedded: true, empty: true })
  const starting = spawnService(home.env)
  // The database's folder appears once the service holds the lock.
  while (!existsSync(join(home.folder, 'database'))) await wait(10)
  const listed = await parley(['account', 'list'], home.env)
  assert.equal(listed.code, 0, listed.stderr)
  const service = await starting
  await service.kill('SIGKILL')
  await home.remove()
})

test('an idle connection to the command socket blocks neither the service nor its end', {
  skip:
    skip || (!existsSync('/proc/self/fd') && 'only Linux reaches a socket in a folder with so long a path'),
}, async () => {
  const home = await newHome({ embedded: true })
  const folder = join(home.folder, 'long'.repeat(30))
  mkdirSync(folder)
  const env = { ...home.env, DATA_DIR: folder }
  const service = await spawnService(env)
  assert.equal(statSync(join(folder, 'parley.sock')).mode & 0o777, 0o600)
  const descriptor = openSync(folder, 'r')
  const sockets = ['', 'no JSON', '{}', '{"command":"nope"}'].map((text) => {
    const path = `/proc/self/fd/${descriptor}/parley.sock`
    const socket = createConnection({ path, allowHalfOpen: true }).on('error', () => {})
    return text === '' ? socket : socket.end(text)
  })
  await wait(200)
  assert.equal((await parley(['account', 'list'], env)).code, 0)
  assert.match(oneLine((await parley(['backup', '/nowhere/b'], env)).stderr), /cannot be written \(ENOENT\)/)
  const backup = join(home.folder, 'b.gz')
  for (const words of [
    ['maintenance', 'on'],
    ['backup', backup],
    ['restore', backup],
  ])
    assert.equal((await parley(words, env)).code, 0, words.join(' '))
  const status = await parley(['--json', 'maintenance', 'status'], env)
  assert.deepEqual(JSON.parse(status.stdout), { maintenance: true }, 'a restore leaves the switch as it was')
  assert.equal(await service.kill('SIGTERM'), 0)
  assert.equal(existsSync(join(folder, 'parley.sock')), false)
  for (const socket of sockets) socket.destroy()
  closeSync(descriptor)
  await home.remove()
})

test('SIGTERM lets a running answer finish; a second signal does not wait', async () => {
  const models = await startModelServer()
  const home = await newHome()
  const env = {
    ...home.env,
    OPENAI_BASE_URL: `${models.url}/v1`,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_MODEL: 'fake-model',
  }
  const ask = async (service: { url: string }, key: string, agent: string) =>
    fetch(`${service.url}/api/v2/agents/${agent}/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"message":"Hi"}',
    })
  const first = await spawnService(env)
  const key = /API key \(shown this once\): (\S+)/.exec(first.output)?.[1] ?? ''
  const created = await fetch(`${first.url}/api/v2/agents`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"name":"A"}',
  })
  const agent = ((await created.json()) as { id: string }).id
  models.otherwise(() => ({ tokens: tokens(30), delayMs: 50 }))
  const response = await ask(first, key, agent)
  const ended = first.kill('SIGTERM')
  const { text } = await readStream(response)
  assert.equal(text, tokens(30).join(''))
  assert.equal(await ended, 0)

  const second = await spawnService(env)
  models.otherwise(() => ({ tokens: tokens(10_000), delayMs: 50 }))
  await ask(second, key, agent)
  const cutOff = second.kill('SIGTERM')
  // Signals within a second of the first one count as duplicates of it.
  for (; second.isAlive(); await wait(300)) second.signal('SIGTERM')
  assert.equal(await cutOff, 1, 'cut off; after waiting it would have been 0')
  await models.close()
  await home.remove()
})

test('SIGTERM to npm start ends the service in order, alone or with its whole process group', async () => {
  const home = await newHome()
  for (const isGroup of [false, true]) {
    const env = {
      ...process.env,
      ...home.env,
      LOG_LEVEL: 'info',
      LOG_REQUESTS: '1',
      LOG_FORMAT: isGroup ? 'pretty' : 'json',
    }
    const npm = spawn('npm', ['start'], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const ended = once(npm, 'exit')
    let output = ''
    const url = await new Promise<string>((ready, fail) => {
      void ended.then(() => fail(new Error(output)))
      for (const stream of [npm.stdout, npm.stderr])
        stream.on('data', (text) => {
          output += text
          const address = /^listening on (http:\S+)\n/m.exec(output)?.[1]
          if (address) ready(address)
        })
    })
    const asked = await fetch(`${url}/api/v2/agents/marzipan/sources?name=nougat`)
    assert.equal(asked.status, 401)
    process.kill(isGroup ? -npm.pid! : npm.pid!, 'SIGTERM')
    const [code] = await ended
    assert.equal(code, 0, output)
    await assert.rejects(fetch(url), 'nothing listens any more')
    assert.doesNotMatch(output, /marzipan|nougat|EBADENGINE|Unsupported engine/)
    if (isGroup) assert.match(output, /\d\d:\d\d:\d\d.* INFO.*: request\n/)
    else {
      const lines = output.split('\n').filter((line) => line.startsWith('{'))
      const line = lines.map((text) => JSON.parse(text)).find(({ msg }) => msg === 'request')
      assert.deepEqual(
        [line.method, line.route, line.status, line.requestId],
        ['GET', '/api/v2/agents/:agentId/sources', 401, asked.headers.get('x-request-id')],
      )
      assert.match(line.time, /^\d{4}-\d\d-\d\dT/)
    }
    assert.equal((await parley(['--version'], home.env)).stdout, '0.2.0\n')
  }
  await home.remove()
})

async function markAsNewer({ env, folder }: Home): Promise<void> {
  const database = env.DATABASE_URL ? openPostgres(env.DATABASE_URL, 1) : await openEmbedded(folder)
  await sql`insert into schema_migrations (name, checksum) values ('9999_later.sql', 'x')`.execute(
    database.db,
  )
  await database.close()
}

test('a newer database, an unknown host and a file instead of a folder are each reported in one line', async () => {
  const home = await newHome()
  assert.equal((await parley(['account', 'list'], home.env)).code, 0)
  await markAsNewer(home)
  const cases: [Record<string, string>, RegExp, number, number][] = [
    [{}, /newer version of Parley \(9999_later\.sql\)/, 1, 1],
    [
      { DATABASE_URL: 'postgres://x:hunter2@nowhere.invalid/x' },
      /^The database of DATABASE_URL cannot/,
      69,
      69,
    ],
    [{ DATA_DIR: '/etc/passwd', DATABASE_URL: '' }, /^DATA_DIR: the folder \/etc\/passwd cannot/, 78, 1],
  ]
  for (const [env, pattern, startCode, commandCode] of cases) {
    const start = await failedStart({ ...home.env, ...env })
    const command = await parley(['account', 'list'], { ...home.env, ...env })
    for (const { stderr } of [start, command]) {
      assert.match(oneLine(stderr), pattern)
      assert.doesNotMatch(stderr, /hunter2/)
    }
    assert.deepEqual([start.code, command.code], [startCode, commandCode])
  }
  await home.remove()
})
