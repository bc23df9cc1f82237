import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import { startScriptedModel } from '../conversation-model/scripted-model.ts'
import { createPostgresDatabase, dropPostgresDatabase, onPostgres } from '../database.ts'
import { startMessagingServer } from '../fakes/messaging-server.ts'
import { signatureOf, textWebhook } from '../fakes/messaging-wire.ts'
import { checkAfterFault } from '../faults/check-turns.ts'
import type { FaultWorld } from '../faults/fault-world.ts'
import { paced, startTalkers } from '../faults/talkers.ts'
import { ACCOUNT, envFor, NUMBER, now, PAT, SECRET, VERIFY } from '../messaging-home.ts'
import { findBinaries } from '../postgres-cluster.ts'
import { type Home, newHome, parley, type Running, spawnService } from '../spawn-service.ts'
import { type Client, clientOf } from '../start.ts'
import { until } from '../until.ts'
import { fillWithFormer, noFormerVersion, unpackVersions, type Versions } from '../versions.ts'

const skipOnPostgres = noFormerVersion || (onPostgres() && 'It runs when TEST_DATABASE_URL is not set.')
const skipOnEmbedded = noFormerVersion || (!onPostgres() && 'rolling upgrades need PostgreSQL')

let versions: Versions
before(() => {
  if (!noFormerVersion) versions = unpackVersions()
})
after(() => versions?.remove())

const startFormer = (env: Record<string, string>, role: 'all' | 'api' = 'all') =>
  spawnService(env, [], { folder: versions.former, role })
const startPresent = (env: Record<string, string>) => spawnService(env, [], { folder: versions.present })
const present = (words: string[], env: Record<string, string>) => parley(words, env, versions.present)

/** Sends a file as a new source. */
async function send(client: Client, agentId: string, word: string): Promise<Response> {
  const form = new FormData()
  form.set('name', word)
  const text = `${'Filler about nothing. '.repeat(20)} The secret ${word} is here.`
  form.set('file', new Blob([text]), `${word}.txt`)
  return client.raw('POST', `/agents/${agentId}/sources`, {
    body: form,
    headers: { 'idempotency-key': word },
  })
}

async function upload(client: Client, agentId: string, word: string): Promise<string> {
  const response = await send(client, agentId, word)
  const body = (await response.json()) as { id: string }
  assert.equal(response.status, 201, JSON.stringify(body))
  return body.id
}

/** Waits until every source is trained, and returns how often each was. */
async function trainings(client: Client, agentId: string, ids: string[]): Promise<number[]> {
  const found: number[] = []
  for (const id of ids)
    found.push(
      await until(`the training of ${id}`, async () => {
        const path = `/agents/${agentId}/sources/${id}`
        const { body: source } = await client.request('GET', path)
        assert.ok(['untrained', 'trained'].includes(source.status), JSON.stringify(source))
        return (
          source.status === 'trained' && (await client.request('GET', `${path}/trainings`)).body.data.length
        )
      }),
    )
  return found
}

const chat = async (client: Client, agentId: string, message: string, conversationId?: string) => {
  const { status, body } = await client.request('POST', `/agents/${agentId}/chat`, {
    message,
    stream: false,
    ...(conversationId ? { conversationId } : {}),
  })
  assert.equal(status, 200, JSON.stringify(body))
  const { parts, metadata } = body.data
  return { text: parts[0].text as string, conversationId: metadata.conversationId as string }
}

type Said = { id: string; role: string; parts: { type: string; text?: string }[] }

const messagesOf = async (client: Client, agentId: string, conversationId: string) => {
  const path = `/agents/${agentId}/conversations/${conversationId}/messages`
  const { status, body } = await client.request('GET', path)
  assert.equal(status, 200, JSON.stringify(body))
  return (body.data as Said[]).map(({ id, role, parts }) => ({
    id,
    role,
    text: parts.map(({ text }) => text),
  }))
}

/** Kills the present version at its first start, when it has made the backup and begins to migrate. */
async function killAfterBackup(env: Record<string, string>): Promise<void> {
  const child = spawn(process.execPath, ['server/main.ts'], {
    cwd: versions.present,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit')
  let output = ''
  for await (const text of child.stderr) {
    output += text
    if (/The data folder is backed up in .* before the upgrade/.test(output)) child.kill('SIGKILL')
  }
  await ended
  assert.equal(child.signalCode, 'SIGKILL', output)
}

/** Returns the uploaded files of a source. */
const filesOf = ({ folder }: Home, sourceId: string): string[] =>
  readdirSync(join(folder, 'files'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.includes(`${sourceId}/`),
  )

test('an embedded installation is upgraded after a backup, used, and put back', {
  skip: skipOnPostgres,
}, async () => {
  const home = await newHome({ embedded: true, empty: true })
  const env = { ...home.env, LOG_LEVEL: 'info' }
  const { agentId, keys } = fillWithFormer(versions, home)
  let service = await startFormer(env)
  let client = clientOf(service.url, keys[0]!)
  const kept = await upload(client, agentId, 'marigold')
  await trainings(client, agentId, [kept])
  const { conversationId } = await chat(client, agentId, 'Where is marigold?')
  const said = await messagesOf(client, agentId, conversationId)
  assert.equal(said.length, 2)
  // Jobs that nobody has run.
  const queued = await Promise.all(
    ['aster', 'begonia', 'camellia'].map((word) => upload(client, agentId, word)),
  )
  await service.kill('SIGKILL')

  const checked = await present(['upgrade', '--check'], env)
  assert.equal(checked.code, 0, checked.stderr)
  assert.match(checked.stdout, /9991_added_index\.sql: builds messages_added_note, changes messages\n/)
  assert.match(
    checked.stdout,
    /Before that, the data folder is backed up in .*\/backups\. .* are free\.\nNothing was changed/,
  )
  assert.equal(existsSync(join(home.folder, 'backups')), false)

  await killAfterBackup(env)
  const backups = join(home.folder, 'backups')
  const backup = join(backups, '0076-before-9991')
  for (const folder of [backups, backup]) assert.equal(statSync(folder).mode & 0o777, 0o700, folder)
  service = await startPresent(env)
  client = clientOf(service.url, keys[0]!)
  assert.deepEqual(await trainings(client, agentId, queued), [1, 1, 1], 'each job runs once')
  assert.deepEqual(await messagesOf(client, agentId, conversationId), said)
  const after = await chat(client, agentId, 'Where is begonia?', conversationId)
  assert.match(after.text, /begonia/)
  assert.equal((await client.request('DELETE', `/agents/${agentId}/sources/${kept}`)).status, 200)
  await until('the end of its file', () => filesOf(home, kept).length === 0)
  assert.equal(await service.kill('SIGTERM'), 0)
  const again = await startPresent(env)
  assert.doesNotMatch(again.output, /backed up/)
  await again.kill('SIGTERM')

  for (const part of ['database', 'files']) rmSync(join(home.folder, part), { recursive: true })
  cpSync(backup, home.folder, { recursive: true })
  service = await startFormer(env)
  client = clientOf(service.url, keys[0]!)
  assert.deepEqual(await messagesOf(client, agentId, conversationId), said)
  assert.deepEqual(await trainings(client, agentId, [kept, ...queued]), [1, 1, 1, 1])
  assert.equal(filesOf(home, kept).length, 1, 'the file that was deleted after the upgrade')
  await service.kill('SIGTERM')
  await home.remove()
})

test('on PostgreSQL, two processes are upgraded one after the other under load, and nothing is lost', {
  skip: skipOnEmbedded,
}, async () => {
  const home = await newHome({ empty: true })
  const models = await startScriptedModel()
  const modelsFile = join(home.folder, 'models.json')
  const model = { id: 'fake', provider: 'openai-compatible', baseUrl: `${models.url}/v1`, apiKey: 'k' }
  writeFileSync(modelsFile, JSON.stringify({ auto: 'fake', models: [model] }))
  const env = { ...home.env, MODELS_FILE: modelsFile }
  const filled = fillWithFormer(versions, home)
  const { agentId, keys } = filled
  const services = [await startFormer(env), await startFormer(env)]
  const started = [...services]
  const replace = async (place: number, starting: Promise<Running>): Promise<void> => {
    services[place] = await starting
    started.push(services[place])
  }
  const closing = new AbortController()
  const world: FaultWorld = {
    ...filled,
    models,
    services,
    env: home.env,
    databaseUrl: home.env.DATABASE_URL ?? null,
    start: () => assert.fail('The test starts the processes.'),
    closed: closing.signal,
    output: () => started.map(({ output }) => output).join('\n'),
    close: async () => {},
  }
  try {
    // What is there before, and is put back in the end.
    let client = clientOf(services[0]!.url, keys[0]!)
    // The model is asked with the question alone, by which the talkers know it, only where there are no sources.
    const library = (await client.request('POST', '/agents', { name: 'Library' })).body.id as string
    const before = await upload(client, library, 'marigold')
    await trainings(client, library, [before])
    const { conversationId } = await chat(client, agentId, 'Before the upgrade.')
    const said = await messagesOf(client, agentId, conversationId)
    const dump = await dumpDatabase(home)

    const talkers = startTalkers(8, paced(world))
    const uploads = startUploads(world, library)
    const go = async (what: string): Promise<void> => {
      const [answered, added] = [talkers.answered(), uploads.added.length]
      await until(
        `answers and uploads ${what}`,
        () => talkers.answered() >= answered + 8 && uploads.added.length > added,
      )
      for (const [place, { url }] of services.entries()) {
        const { status, body } = await clientOf(url, keys[0]!).request('GET', `/agents/${agentId}`)
        assert.equal(status, 200, `${what}, process ${place}: ${JSON.stringify(body)}`)
      }
    }
    await go('before the upgrade')
    const checked = await present(['upgrade', '--check'], env)
    assert.match(
      checked.stdout,
      /may keep running, and start again.*\n.*\n.*pg_dump --format=custom/,
      checked.stderr,
    )
    assert.deepEqual(
      await column(home, `select count(*) from pg_class where relname = 'applied_migrations'`),
      ['0'],
    )

    assert.equal(await services[1]!.kill('SIGTERM'), 0, services[1]!.output)
    await replace(1, startPresent(env))
    await go('with both versions')
    assert.equal(await services[0]!.kill('SIGTERM'), 0, services[0]!.output)
    await replace(0, startFormer(env))
    await go('after a restart of the former version')
    assert.equal(await services[0]!.kill('SIGTERM'), 0, services[0]!.output)
    await replace(0, startPresent(env))
    await go('with the present version')
    await uploads.end()
    await talkers.end(30_000)

    await checkAfterFault(world, talkers.talks, { interrupted: false, withFormer: true })
    client = clientOf(services[0]!.url, keys[0]!)
    await trainings(client, library, uploads.added)
    assert.deepEqual(await messagesOf(client, agentId, conversationId), said)
    assert.deepEqual(
      await column(
        home,
        `select indisvalid from pg_index where indexrelid = 'messages_added_note'::regclass`,
      ),
      [true],
    )
    for (const service of services) assert.equal(await service.kill('SIGTERM'), 0)

    const restored = await restoreDump(dump)
    const service = await startFormer({ ...env, DATABASE_URL: restored })
    client = clientOf(service.url, keys[0]!)
    assert.deepEqual(await messagesOf(client, agentId, conversationId), said)
    await trainings(client, library, [before])
    await chat(client, agentId, 'After it was put back.', conversationId)
    await service.kill('SIGTERM')
    await dropPostgresDatabase(process.env.TEST_DATABASE_URL!, restored)
  } finally {
    closing.abort()
    for (const service of started) await service.kill('SIGKILL')
    await models.close()
    await home.remove()
  }
})

test('jobs that the former version has queued run after the upgrade, each once', {
  skip: skipOnEmbedded,
}, async (t) => {
  const home = await newHome({ empty: true })
  const fake = await startMessagingServer()
  t.after(fake.close)
  fake.accounts.set(ACCOUNT, {
    token: 'token-1',
    numbers: [{ id: NUMBER, phone: '+1 555-000-1111', name: 'Shop' }],
    templates: [],
  })
  const env = { ...home.env, ...envFor(fake) }
  const { agentId, keys } = fillWithFormer(versions, home)
  // This process queues jobs and works on none.
  let service = await startFormer(env, 'api')
  let client = clientOf(service.url, keys[0]!)
  const agents = `/agents/${agentId}`
  const account = {
    businessAccountId: ACCOUNT,
    accessToken: 'token-1',
    appSecret: SECRET,
    verifyToken: VERIFY,
  }
  const connected = await client.request('PUT', `${agents}/messaging/connection`, {
    accounts: [account],
    baseUrl: fake.url,
  })
  assert.equal(connected.status, 200, JSON.stringify(connected.body))
  const sources = await Promise.all(
    ['aster', 'begonia', 'camellia'].map((word) => upload(client, agentId, word)),
  )
  const hello = await client.request('POST', `${agents}/chat`, {
    message: 'Forget me',
    userId: 'u-1',
    stream: false,
  })
  assert.equal(hello.status, 200, JSON.stringify(hello.body))
  const erasure = await client.request('POST', '/users/erase', { userId: 'u-1' })
  assert.equal(erasure.status, 202, JSON.stringify(erasure.body))
  const doomed = (await client.request('POST', '/agents', { name: 'Doomed' })).body.id as string
  const files = join(home.folder, 'files')
  await upload(client, doomed, 'dahlia')
  assert.equal((await client.request('DELETE', `/agents/${doomed}`)).status, 200)
  for (const id of ['m-1', 'm-2']) {
    const from = { account: ACCOUNT, number: NUMBER, from: id === 'm-1' ? PAT : `${PAT}1` }
    const text = JSON.stringify(textWebhook(from, id, now(), `Where is aster? (${id})`))
    const received = await fetch(`${service.url}/webhooks/messaging/${agentId}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': signatureOf(text, SECRET) },
      body: text,
    })
    assert.equal(received.status, 200, await received.text())
  }
  assert.equal(await service.kill('SIGTERM'), 0, service.output)
  const waiting = await column(home, `select distinct name from jobs.job where state = 'created' order by 1`)
  assert.deepEqual(
    ['empty-agent', 'erase-user', 'remove-files', 'take-in-messages', 'train-source'].filter(
      (name) => !waiting.includes(name),
    ),
    [],
    String(waiting),
  )
  assert.deepEqual(fake.sent, [])

  service = await startPresent(env)
  client = clientOf(service.url, keys[0]!)
  assert.deepEqual(await trainings(client, agentId, sources), [1, 1, 1])
  const erased = await until('the erasure', async () => {
    const { body } = await client.request('GET', `/users/erasures/${erasure.body.data.id}`)
    return body.data.finishedAt && body.data
  })
  assert.equal(erased.counts.conversations, 1, JSON.stringify(erased))
  await until('the answers', () => fake.sent.length >= 2)
  await until(
    'the files of the deleted agent',
    () => !readdirSync(files, { recursive: true }).join().includes(doomed),
  )
  const open = `select name from jobs.job where state in ('created', 'retry', 'active')
    union all select task from jobs where run_at <= now() or process_id is not null`
  await until('the end of all jobs', async () => (await column(home, open)).length === 0)
  assert.deepEqual(fake.sent.map(({ to }) => to).sort(), [PAT, `${PAT}1`], 'each is answered once')
  assert.deepEqual(
    await column(home, `select name from jobs.job`),
    [],
    'nothing is left of those that have ended',
  )
  await service.kill('SIGTERM')
  await home.remove()
})

const RETRY_MS = 100
const PAUSE_MS = 300

/** Uploads files until `end`, each through one process after another until it is acknowledged. */
function startUploads({ services, keys, closed }: FaultWorld, agentId: string) {
  const added: string[] = []
  let isEnding = false
  const run = async (): Promise<void> => {
    for (let number = 0; !isEnding && !closed.aborted; number++) {
      for (let tries = 0; !closed.aborted; tries++) {
        const client = clientOf(services[(number + tries) % services.length]!.url, keys[20]!)
        // A process that is being replaced refuses connections.
        const answer = await send(client, agentId, `upload${number}`).catch(() => null)
        const body = (await answer?.json().catch(() => null)) as { id: string } | null
        if (answer?.status === 201 && body) {
          added.push(body.id)
          break
        }
        assert.ok(!answer || answer.status === 503 || answer.status === 201, JSON.stringify(body))
        await new Promise((resume) => setTimeout(resume, RETRY_MS))
      }
      await new Promise((resume) => setTimeout(resume, PAUSE_MS))
    }
  }
  const done = run()
  return {
    added,
    async end() {
      isEnding = true
      await done
    },
  }
}

const run = promisify(execFile)
const program = (name: string): string => join(findBinaries() ?? '', name)

/** Makes the backup that `upgrade --check` asks for. */
async function dumpDatabase({ env, folder }: Home): Promise<string> {
  const file = join(folder, 'parley.dump')
  await run(program('pg_dump'), ['--format=custom', `--file=${file}`, env.DATABASE_URL!])
  return file
}

async function restoreDump(file: string): Promise<string> {
  const url = await createPostgresDatabase(process.env.TEST_DATABASE_URL!, { empty: true })
  await run(program('pg_restore'), ['--no-owner', `--dbname=${url}`, file])
  return url
}

/** Returns the first column of a query. */
async function column({ env }: Home, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: env.DATABASE_URL! })
  await client.connect()
  try {
    const { rows } = await client.query({ text, rowMode: 'array' })
    return rows.map(([first]) => first)
  } finally {
    await client.end()
  }
}
