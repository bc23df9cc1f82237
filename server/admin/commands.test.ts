import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { freshDatabase } from '../../test/database.ts'
import { startModelServer } from '../../test/fakes/model-server.ts'
import { parseCatalogue } from '../ai/catalogue/catalogue.ts'
import { probeModels } from '../ai/catalogue/probe-models.ts'
import { reachServers } from '../ai/catalogue/reach-servers.ts'
import { createModels, type Models } from '../ai/models.ts'
import { OCR_ADVICE } from '../knowledge/ocr/ocr-folder.ts'
import { NOTHING_FOUND } from '../knowledge/search/search-result.ts'
import { ISOLATION_ADVICE } from '../platform/child-process/launch.ts'
import { newId } from '../platform/db/ids.ts'
import { migrate } from '../platform/db/upkeep/migrate.ts'
import { CommandFailure, type Operations, type Result } from './command.ts'
import { commands } from './commands.ts'

const never = (): never => {
  throw new Error('Not asked here.')
}

let fresh: Awaited<ReturnType<typeof freshDatabase>>
let operations: Operations
let modelsFile: unknown = null
const opened: Models[] = []
const NO_VARIABLES = { baseUrl: null, apiKey: null, model: null, embeddingModel: null }

before(async () => {
  fresh = await freshDatabase()
  await migrate(fresh.database.db)
  operations = {
    db: fresh.database.db,
    embedded: false,
    isServed: async () => false,
    dataDir: 'unused',
    filesDir: 'unused',
    secrets: { rotate: never, finish: never },
    setMaintenance: async () => {},
    resume: async () => {},
    openKnowledge: () => ({ search: async () => NOTHING_FOUND }),
    openModels: () => {
      const catalogue = parseCatalogue(modelsFile, NO_VARIABLES, {})
      const models = createModels({ catalogue, builtin: {} as never })
      opened.push(models)
      return { catalogue, models }
    },
    origin: 'https://parley.example',
    erasing: { jobs: { enqueue: async () => {} }, stop: async () => {} },
  }
})
after(async () => {
  for (const models of opened) await models.close()
  await fresh.database.close()
  await fresh.drop()
})

function run(name: string, values: Record<string, string> = {}, ...positionals: string[]): Promise<Result> {
  const command = commands.find((one) => one.name === name)
  assert.ok(command, name)
  return command.run(operations, { values, positionals })
}

test("an operator's changes are in the audit log of the account concerned", async () => {
  const { id } = await run('account create', { name: 'A' })
  const account = String(id)
  await run('account plan', {}, account, 'pro')
  await run('account idle', {}, account, '72')
  await run('account idle', {}, account, 'default')
  const key = await run('keys create', { account, name: 'k' })
  await run('keys revoke', {}, String(key.id))
  await run('keys revoke', {}, String(key.id))
  await run('credits grant', { account, amount: '5' })
  await run('maintenance on')
  await run('credits show', { account })
  const rows = await operations.db.selectFrom('audit_log').selectAll().orderBy('id').execute()
  assert.deepEqual(
    rows.map(({ actor, action, account_id, target }) => [actor, action, account_id, target]),
    [
      ['operator', 'account.create', account, account],
      ['operator', 'account.plan', account, 'pro'],
      ['operator', 'account.idle', account, '72'],
      ['operator', 'account.idle', account, 'default'],
      ['operator', 'key.create', account, key.id],
      ['operator', 'key.revoke', account, key.id],
      ['operator', 'key.revoke', account, key.id],
      ['operator', 'credits.grant', account, '5'],
      ['operator', 'maintenance', null, 'on'],
    ],
  )
})

test('expiry times are read as UTC, and nonexistent days are rejected', async () => {
  const { id } = await run('account create', { name: 'B' })
  const account = String(id)
  const key = await run('keys create', { account, name: 'k', expires: '2027-01-31T12:00:00' })
  const row = await operations.db
    .selectFrom('api_keys')
    .select('expires_at')
    .where('id', '=', String(key.id))
    .executeTakeFirstOrThrow()
  assert.equal(row.expires_at?.toISOString(), '2027-01-31T12:00:00.000Z')
  for (const expires of ['2026-02-30', 'tomorrow', '2027-01-31 garbage', ''])
    await assert.rejects(run('keys create', { account, name: 'k', expires }), { exitCode: 64 })
})

test('a key that would never work is rejected, and keys and members are listed and removed', async () => {
  const account = String((await run('account create', { name: 'D' })).id)
  await assert.rejects(run('keys create', { account, name: 'k', expires: '2020-01-01' }), {
    exitCode: 64,
    message: /2020-01-01T00:00:00\.000Z, which has passed/,
  })
  assert.deepEqual(await run('keys list', { account }), { keys: [] })
  const { id, key } = await run('keys create', { account, name: 'k', scopes: 'chat' })
  await run('keys revoke', {}, String((await run('keys create', { account, name: 'old' })).id))
  const { keys } = (await run('keys list', { account })) as { keys: Record<string, unknown>[] }
  assert.deepEqual(
    keys.map(({ name, state, scopes }) => [name, state, scopes]),
    [
      ['k', 'active', ['chat']],
      ['old', 'revoked', null],
    ],
  )
  assert.equal(keys[0]?.id, id)
  assert.ok(String(key).startsWith(String(keys[0]?.prefix)))
  assert.doesNotMatch(JSON.stringify(keys), new RegExp(String(key)))

  const member = await run('member create', { account, email: 'ann@example.com', name: 'Ann' })
  const { members } = await run('member list', { account })
  assert.deepEqual(members, [
    { id: member.id, email: 'ann@example.com', name: 'Ann', role: 'support', presence: 'offline' },
  ])
  const tokens: string[] = []
  for (const [command, page, ...ids] of [
    ['setup-link', 'setup'],
    ['member reset-link', 'reset', String(member.id)],
  ]) {
    const link = async () =>
      new URL(String((await run(command ?? '', ids.length > 0 ? {} : { account }, ...ids)).link))
    // The earlier link no longer works.
    await link()
    const { origin, pathname, hash } = await link()
    assert.deepEqual([origin, pathname], ['https://parley.example', `/${page}`])
    tokens.push(hash.slice(1))
  }
  const links = await operations.db.selectFrom('login_links').select(['kind', 'token_hash']).execute()
  assert.deepEqual(links.map(({ kind }) => kind).sort(), ['reset', 'set-up'])
  for (const token of tokens) assert.equal(JSON.stringify(links).includes(token), false)
  await assert.rejects(run('member reset-link', {}, account), { exitCode: 1 })
  await run('member remove', {}, String(member.id))
  assert.deepEqual(await run('member list', { account }), { members: [] })
  for (const gone of [String(member.id), 'x'])
    await assert.rejects(run('member remove', {}, gone), { exitCode: 1 })
})

test('a lost second factor is removed, and the sessions end', async () => {
  const { db } = operations
  const account = String((await run('account create', { name: 'F' })).id)
  const { id } = await run('member create', { account, email: 'lost@example.com', name: 'Lost' })
  const memberId = String(id)
  await assert.rejects(run('member remove-second-factor', {}, memberId), { exitCode: 1 })
  const [login_id, factor, session] = [newId(), newId(), newId()]
  const email = 'lost@example.com'
  await db
    .insertInto('logins')
    .values({ id: login_id, member_id: memberId, email, name: 'Lost', two_factor_enabled: true })
    .execute()
  await db
    .insertInto('login_second_factors')
    .values({ id: factor, login_id, secret: 'sealed', backup_codes: 'sealed' })
    .execute()
  const expires_at = new Date(Date.now() + 60_000)
  await db.insertInto('login_sessions').values({ id: session, login_id, token: 't', expires_at }).execute()
  assert.deepEqual(await run('member remove-second-factor', {}, memberId), { id: memberId, removed: true })
  const login = await db
    .selectFrom('logins')
    .select('two_factor_enabled')
    .where('id', '=', login_id)
    .executeTakeFirstOrThrow()
  assert.equal(login.two_factor_enabled, false)
  for (const table of ['login_second_factors', 'login_sessions'] as const)
    assert.deepEqual(await db.selectFrom(table).select('id').where('login_id', '=', login_id).execute(), [])
  await assert.rejects(run('member remove-second-factor', {}, memberId), { exitCode: 1 })
  await assert.rejects(run('member remove-second-factor', {}, 'x'), { exitCode: 1 })
})

test('the idle limit of an account is set, shown and reset', async () => {
  const account = String((await run('account create', { name: 'C' })).id)
  const shown = async () => {
    const accounts = (await run('account list')).accounts as { id: string; idleHours: number | null }[]
    return accounts.find(({ id }) => id === account)?.idleHours
  }
  assert.equal(await shown(), null)
  assert.deepEqual(await run('account idle', {}, account, '8760'), { id: account, idleHours: 8760 })
  for (const hours of ['0', '8761', '1.5', '-1', 'long', ''])
    await assert.rejects(run('account idle', {}, account, hours), { exitCode: 64 }, hours)
  await assert.rejects(run('account idle', {}, 'x', '5'), { exitCode: 1 })
  assert.equal(await shown(), 8760)
  await run('account idle', {}, account, 'default')
  assert.equal(await shown(), null)
})

test('a rejected command has changed nothing', async () => {
  const before = await operations.db.selectFrom('audit_log').select('id').execute()
  await assert.rejects(run('account create', { name: ' ' }), { exitCode: 64 })
  await assert.rejects(run('account create', { name: 'x', plan: 'gold' }), /free, hobby, standard, pro/)
  await assert.rejects(run('keys revoke', {}, 'x'), CommandFailure)
  await assert.rejects(run('keys revoke', {}, '01900000-0000-7000-8000-000000000000'), { exitCode: 1 })
  for (const amount of ['0', '-1', '1.5', 'many', '1000000001'])
    await assert.rejects(run('credits grant', { account: 'x', amount }), { exitCode: 64 })
  assert.deepEqual(await operations.db.selectFrom('audit_log').select('id').execute(), before)
})

test('every command prints its result as text', () => {
  for (const { name, summary, print } of commands) {
    assert.ok(summary)
    assert.equal(
      typeof print({
        accounts: [],
        keys: [],
        activeKeys: [],
        members: [],
        findings: [],
        pending: [],
        languages: [],
        results: [],
        entries: [],
        spaces: [],
        id: 'x',
      }),
      'string',
      name,
    )
  }
})

test('doctor tells whether each model answers, and what to do if it does not', async (t) => {
  const told = async (): Promise<string> =>
    (await all())
      .split('\n')
      .filter((line) => line !== ISOLATION_ADVICE && line !== OCR_ADVICE)
      .join('\n')
  const all = async (): Promise<string> => {
    try {
      const result = await run('doctor')
      return (result.findings as { sentence: string }[]).map(({ sentence }) => sentence).join('\n')
    } catch (error) {
      assert.ok(error instanceof CommandFailure && error.exitCode === 1, String(error))
      return error.message
    }
  }
  modelsFile = null
  assert.match(
    await told(),
    /^Model: none is configured, .*docs\/operations\/models\.md\.\nEmbeddings: none are configured, .*: npm run parley -- models get$/,
  )

  const server = await startModelServer()
  t.after(server.close)
  const baseUrl = `${server.url}/v1`
  const model = { id: 'm', provider: 'openai-compatible', baseUrl, apiKey: 'key-abcdef' }
  const other = { name: 'o', baseUrl }
  modelsFile = { models: [model], embedding: other, reranker: { ...other, timeout: 10_000 } }
  const lines = (await told()).split('\n')
  assert.match(lines[0]!, /^Model "m" at http.* answers, and is what auto means\.$/)
  assert.match(lines[1]!, /^Embeddings "o" at http.* answers with vectors of \d+ numbers\.$/)
  assert.match(lines[2]!, /^Reranker "o" at http.*\.$/)

  const faults: [unknown, RegExp][] = [
    [{ models: [model] }, /refused the key\. Correct OPENAI_API_KEY, or apiKey/],
    [{ models: [model] }, /is not known there \(404: [^)]+\)\. Correct its name, or OPENAI_BASE_URL/],
    [
      { models: [{ ...model, baseUrl: 'http://127.0.0.1:9/v1' }] },
      /cannot be reached \(ECONNREFUSED\)\. Start its server/,
    ],
    [
      { models: [{ ...model, timeouts: { firstToken: 50 } }] },
      /did not answer in time\. .*timeouts\.firstToken/,
    ],
  ]
  const replies = [{ status: 401 }, { status: 404 }, null, { firstDelayMs: 60_000 }]
  for (const [i, [file, expected]] of faults.entries()) {
    modelsFile = file
    server.queue.length = 0
    if (replies[i]) server.queue.push(replies[i])
    const said = await told()
    assert.match(said, expected)
    assert.doesNotMatch(said, /key-abcdef/)
  }
  const catalogue = parseCatalogue({ models: [], embedding: other }, NO_VARIABLES, {})
  const models = createModels({ catalogue, builtin: {} as never })
  opened.push(models)
  const [, shorter] = await probeModels(catalogue, models, async () => 7)
  assert.match(shorter!.sentence, /but those that are stored have 7\. Its server has another model/)
  // The lines at startup do not send requests that cost anything.
  const before = server.requests.length
  const [there, away, judge] = await reachServers(
    parseCatalogue(
      { models: [model], embedding: { name: 'o', baseUrl: 'http://127.0.0.1:9/v1' }, reranker: other },
      NO_VARIABLES,
      {},
    ),
    null,
  )
  assert.match(there!.sentence, /^Model "m" at http.* has a server that is there/)
  assert.match(away!.sentence, /^Embeddings "o" .* cannot be reached \(ECONNREFUSED\)/)
  assert.match(judge!.sentence, /^Reranker "o" at http.* has a server that is there/)
  assert.equal(server.requests.length, before)
})
