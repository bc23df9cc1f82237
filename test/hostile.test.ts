import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { rawContracts } from '../server/features.ts'
import { newId } from '../server/platform/db/ids.ts'
import { type AccountWorld, fillAccount, rowsOfAccount } from './account-world.ts'
import { hostileBody, hostileText, randomOf } from './hostile-body.ts'
import {
  bodyOf,
  type Operation,
  operationsOf,
  parametersOf,
  pathOf,
  propertiesOf,
  titleOf,
} from './operations.ts'
import { requestsTo, type Sent } from './raw-routes.ts'
import { leavesOf, type Schema } from './sample.ts'
import { type Answer, type Service, startService } from './start.ts'

/** Sends hostile input, generated from the contracts, to every endpoint of every API. */

let service: Service
let mine: AccountWorld
let theirs: AccountWorld
let operations: Operation[]

before(async () => {
  // The service trusts a proxy, so that requests can come from many addresses and stay within the rate limits.
  service = await startService({ TRUSTED_PROXIES: '127.0.0.1' }, undefined, { idle: true })
  mine = await fillAccount(service, 'mine')
  theirs = await fillAccount(service, 'theirs')
  operations = operationsOf(service.ctx)
  // The search and the lists of conversations read from the index.
  await service.ctx.indexer.run(service.ctx.db)
})
after(() => service.close())

let requests = 0

/** Sends a request with the key of `mine`, or as its visitor or owner. A string body is sent as it is. */
async function ask(operation: Operation, path: string, body?: unknown): Promise<Answer> {
  const { prefix, endpoint } = operation
  const n = requests++
  const headers: Record<string, string> = { 'x-forwarded-for': `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` }
  let sent = endpoint.method === 'GET' ? undefined : body
  if (takesForm(operation)) {
    headers['content-type'] = 'multipart/form-data; boundary=b'
    sent = formOf(operation, typeof body === 'object' ? { ...body } : {})
  }
  if (prefix === '/api/widget') return mine.visitor.request(endpoint.method, path, sent, headers)
  if (endpoint.onlySessions) return mine.owner.request(endpoint.method, path, sent, headers)
  // Some limits last an hour, so a refused request is not sent again.
  const authorization = `Bearer ${mine.client.key}`
  return service.anonymous(endpoint.method, path, sent, { authorization, ...headers })
}

const takesForm = ({ endpoint }: Operation): boolean => Boolean(endpoint.multipart) && !endpoint.body

function formOf({ endpoint }: Operation, fields: Record<string, unknown>): string {
  const parts = Object.entries(fields).map(([name, value]) => `name="${name}"\r\n\r\n${value}`)
  const all = [...parts, `name="${endpoint.multipart?.file}"; filename="x.txt"\r\n\r\nx`]
  return `${all.map((part) => `--b\r\nContent-Disposition: form-data; ${part}\r\n`).join('')}--b--\r\n`
}

const idsFor = (world: AccountWorld, { endpoint }: Operation): Record<string, string> => ({
  ...world.ids,
  ...world.idsOf[endpoint.name],
})

const NAMES = ['__proto__', 'constructor', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__']

test('names from Object.prototype are unknown fields like any other', async () => {
  for (const operation of operations) {
    const { prefix, endpoint } = operation
    // The library that parses forms rejects these names itself, without saying which.
    if (takesForm(operation)) continue
    const path = pathOf(operation, {})
    const withFields = (names: string[]) =>
      ask(
        operation,
        `${path}?${endpoint.method === 'GET' ? names.map((name) => `${name}=1`).join('&') : ''}`,
        `{${[...Object.entries(bodyOf(operation) ?? {}), ...names.map((name) => [name, 1] as const)]
          .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
          .join()}}`,
      )
    const plain = await withFields(['unheardOf'])
    const hostile = await withFields(NAMES)
    assert.deepEqual(hostile.status, plain.status, titleOf(operation))
    if (prefix === '/api/v1') continue
    assert.equal(hostile.body.error?.code, plain.body.error?.code, titleOf(operation))
    const expected = Object.keys(plain.body.error?.details ?? {}).flatMap((name) =>
      name === 'unheardOf' ? NAMES : [name],
    )
    const named = Object.keys(hostile.body.error?.details ?? {})
    assert.deepEqual(named.sort(), expected.sort(), titleOf(operation))
  }
})

/** Additional query parameters for lists that have cursors of more than one kind. */
const ASKED: Record<string, string[]> = { searchConversations: ['', '&query=mine'] }

test('every list rejects a forged cursor and one of another list', async () => {
  const genuine: { operation: Operation; more: string; cursor: string }[] = []
  for (const operation of operations) {
    if (
      !('cursor' in propertiesOf(operation.endpoint.query)) ||
      operation.endpoint.name === 'listConnectedPages'
    )
      continue
    for (const more of ASKED[operation.endpoint.name] ?? ['']) {
      const path = pathOf(operation, idsFor(mine, operation))
      const { body, status } = await ask(operation, `${path}?limit=1${more}`)
      assert.equal(
        typeof body.pagination?.cursor,
        'string',
        `${titleOf(operation)}: ${status} ${JSON.stringify(body)}`,
      )
      genuine.push({ operation, more, cursor: body.pagination.cursor })
    }
  }
  const forge = (parts: unknown[]): string => Buffer.from(JSON.stringify(parts)).toString('base64url')
  for (const [at, { operation, more, cursor }] of genuine.entries()) {
    const [value, id, print] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const forged = [
      ...[
        '+275760-09-13T00:00:00.000Z',
        '+010000-01-01T00:00:00.000Z',
        '-000001-01-01T00:00:00.000Z',
        '0000-01-01T00:00:00.000Z',
        '2026-02-30T00:00:00.000Z',
        '2026-02-30 2026-02-30 1',
        '0000-01-01 ',
        '2026-01-01 2026-01-01 1e999',
        '99999999999999999999',
        '1e309',
        'NaN',
        'infinity',
        '',
        '\0',
        '__proto__',
        1e308,
        null,
        {},
        [value],
      ].map((wrong) => forge([wrong, id, print])),
      ...['x', '', '\0', null, {}, [id], 1, 'constructor'].map((wrong) => forge([value, wrong, print])),
      ...['x', null, 'constructor'].map((wrong) => forge([value, id, wrong])),
      forge([]),
      Buffer.from('{"__proto__":1}').toString('base64url'),
      'constructor',
      genuine.at(at - 1)?.cursor ?? '',
    ]
    for (const each of forged) {
      const path = `${pathOf(operation, idsFor(mine, operation))}?cursor=${each}${more}`
      const { status, body } = await ask(operation, path)
      assert.equal(
        status,
        400,
        `${titleOf(operation)} ${Buffer.from(each, 'base64url')}: ${JSON.stringify(body)}`,
      )
    }
  }
})

test('every filter accepts extreme dates and rejects invalid ones', async () => {
  const isDate = (format = '') => ['date', 'day-or-time', 'date-time'].includes(format)
  for (const operation of operations) {
    const path = pathOf(operation, idsFor(mine, operation))
    const query = propertiesOf(operation.endpoint.query)
    for (const [name, { format }] of Object.entries(query)) {
      if (!isDate(format)) continue
      const others = 'chatbotId' in query ? `&chatbotId=${mine.ids.chatbotId}` : ''
      for (const date of ['0001-01-01', '0000-01-01', '9999-12-31', '0001-01-01T00:00:00%2B14:00']) {
        const { status, body } = await ask(operation, `${path}?${name}=${date}${others}`)
        assert.ok(
          status === 200 || status === 400,
          `${titleOf(operation)} ${name}=${date}: ${JSON.stringify(body)}`,
        )
      }
      for (const date of [
        '%2B275760-09-13',
        '275760-09-13',
        '99999',
        '99999-01-01',
        '-271821-04-20',
        '2026-02-30',
      ]) {
        const { status, body } = await ask(operation, `${path}?${name}=${date}${others}`)
        assert.equal(status, 400, `${titleOf(operation)} ${name}=${date}: ${JSON.stringify(body)}`)
      }
    }
  }
})

/** A place of a request that takes an id. `path` and `body` return the request with another id in that place. */
type Place = { name: string; shape: string; path(id: string): string; body(id: string): unknown }

/**
 * Names whose values are freely chosen or count within one agent, so they cannot refer to another account's objects.
 * Visitors also choose the ids of their messages, and are told when an id is taken; see `isForeign`.
 */
const FREE = ['userId', 'externalId', 'name', 'ticketNumber']

function placesOf(operation: Operation): Place[] {
  const { endpoint, prefix } = operation
  const ids = idsFor(mine, operation)
  const ownQuery: Record<string, string> =
    'chatbotId' in propertiesOf(endpoint.query) ? { chatbotId: ids.chatbotId ?? '' } : {}
  const address = (names: Record<string, string> = {}, query: Record<string, string> = {}): string =>
    `${pathOf(operation, { ...ids, ...names })}?${new URLSearchParams({ ...ownQuery, ...query })}`
  const whole = withOwn(bodyOf(operation), ids)
  const isForeign = (name: string): boolean =>
    name in ids &&
    !FREE.includes(name) &&
    !(endpoint.name === 'writeVisitorMessage' && name === 'messageId') &&
    !(prefix === '/api/widget' && name === 'agentId')
  const places: Place[] = []
  for (const name of parametersOf(operation).filter(isForeign))
    places.push({ name, shape: name, path: (id) => address({ [name]: id }), body: () => whole })
  for (const name of Object.keys(propertiesOf(endpoint.query)).filter(isForeign))
    places.push({
      name,
      shape: `query ${name}`,
      path: (id) => address({}, { [name]: id }),
      body: () => whole,
    })
  const leaves = endpoint.body ? leavesOf(endpoint.body as Schema, Object.keys(ids)) : []
  for (const { name, trail, fill } of leaves) {
    // The results of actions in a test of answers are made up.
    if (!isForeign(name) || trail.startsWith('results.')) continue
    const [top = ''] = trail.split('.')
    // The smallest body follows the schema's first alternative. A field of another alternative is sent without it.
    const rest = top in propertiesOf(endpoint.body) ? (whole ?? {}) : {}
    const without = Object.entries(rest).filter(([other]) => !isAlternative(name, other))
    const body = (id: string) => {
      const filled = fill(id) as Record<string, unknown>
      return { ...filled, ...Object.fromEntries(without), ...ANEW[endpoint.name]?.(), [top]: filled[top] }
    }
    places.push({ name, shape: `body ${trail}`, path: () => address(), body })
  }
  return places
}

/** Fields that must differ between requests, or that must be set for the names in the body to be checked. */
const ANEW: Record<string, () => object> = {
  createAction: () => ({ name: `look_${newId().replaceAll('-', '')}` }),
  createProcedure: () => ({ name: newId(), enabled: true }),
  updateProcedure: () => ({ name: newId(), enabled: true }),
}

/** Whether two fields are alternatives, of which exactly one may be sent. */
const isAlternative = (name: string, other: string): boolean =>
  ['author', 'assignee', 'member'].some((who) => name.startsWith(who) && other.startsWith(who)) ||
  (name === 'contactId' && other === 'userId')

/** Returns the body with this account's ids in all fields that take one. */
const withOwn = (body: Record<string, unknown> | undefined, ids: Record<string, string>) =>
  body &&
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      typeof value === 'string' ? (ids[name] ?? value) : value,
    ]),
  )

/** Returns an id of the same form that does not exist. */
function unknownLike(id: string): string {
  if (id.startsWith('@')) return `@${'x'.repeat(id.length - 1)}`
  if (id.includes('@')) return 'nobody@example.com'
  return /^[\da-f]{8}-/.test(id) ? newId() : 'x'.repeat(id.length)
}

test('an id of another account counts as unknown in path, query and body, and changes nothing there', async () => {
  const before = await rowsOfAccount(service.ctx.db, theirs)
  assert.ok(Object.keys(before).length > 25, Object.keys(before).join())
  const tried: string[] = []
  for (const operation of operations) {
    const foreignIds = idsFor(theirs, operation)
    for (const { name, shape, path, body } of placesOf(operation)) {
      const title = `${titleOf(operation)}, ${shape}`
      const foreign = foreignIds[name] ?? ''
      const unknown = unknownLike(foreign)
      const plain = (id: string, answer: Answer): unknown => {
        const { code, message, details } = answer.body?.error ?? answer.body ?? {}
        return JSON.parse(
          JSON.stringify({ status: answer.status, code, message, details }).replaceAll(
            id.replace(/^@/, ''),
            'ID',
          ),
        )
      }
      const theirAnswer = await ask(operation, path(foreign), body(foreign))
      const noAnswer = await ask(operation, path(unknown), body(unknown))
      assert.deepEqual(plain(foreign, theirAnswer), plain(unknown, noAnswer), title)
      if (shape === name) assert.equal(theirAnswer.status, 404, title)
      const said = JSON.stringify(theirAnswer.body ?? null).replaceAll(foreign.replace(/^@/, ''), '')
      assert.ok(!said.includes(theirs.mark), `${title}: ${said}`)
      tried.push(title)
    }
  }
  assert.ok(tried.length > 220, `${tried.length} places`)
  assert.deepEqual(await rowsOfAccount(service.ctx.db, theirs), before)
})

test('an id of another account counts as unknown outside of the APIs, and changes nothing there', async () => {
  const before = await rowsOfAccount(service.ctx.db, theirs)
  const known = new Set([theirs.ids, theirs.outside, ...Object.values(theirs.idsOf)].flatMap(Object.values))
  const claims = [theirs.outside.attachmentId, theirs.ids.sourceId].map((id) =>
    JSON.stringify([theirs.client.accountId, theirs.ids.agentId, id, Date.now() + 3_600_000]),
  )
  const foreign = [...known, ...claims.flatMap((text) => [text, Buffer.from(text).toString('base64url')])]
  const asked = async ({ path, ...sent }: Sent) => {
    const response = await fetch(`${service.url}${path}`, { ...sent, redirect: 'manual' })
    return { status: response.status, text: await response.text() }
  }
  for (const endpoint of rawContracts) {
    if (!endpoint.params) continue
    const nobody = await Promise.all(requestsTo(endpoint, 'x'.repeat(21), mine.mark).map(asked))
    for (const id of foreign) {
      if (endpoint.access === 'anyone' && id === theirs.ids.agentId) continue
      const answers = await Promise.all(requestsTo(endpoint, encodeURIComponent(id), mine.mark).map(asked))
      for (const [i, { status, text }] of answers.entries()) {
        const title = `${endpoint.name} ${id}: ${status} ${text}`
        assert.equal(status, nobody[i]?.status, title)
        assert.ok(status >= 400 && status < 500, title)
        assert.ok(!text.replaceAll(id, '').includes(theirs.mark), title)
      }
    }
  }
  assert.deepEqual(await rowsOfAccount(service.ctx.db, theirs), before)
  // The account's own ids and secrets are accepted, so the other requests were rejected because of the account.
  const own: Record<string, string> = { ...mine.ids, ...mine.links }
  const links: Record<string, string | undefined> = {
    showSurvey: own.surveyToken,
    answerSurvey: own.surveyToken,
    downloadAttachment: own.attachmentAddress,
    showOriginalMail: own.originalToken,
  }
  for (const endpoint of rawContracts) {
    const id = links[endpoint.name] ?? own.agentId ?? ''
    // The source is a text, so there is no file of it, and the agent has no picture.
    if (!endpoint.params || ['openSourceFile', 'showPicture'].includes(endpoint.name)) continue
    if (!/\{(token|agentId)\}/.test(endpoint.path)) continue
    for (const answer of await Promise.all(requestsTo(endpoint, id, mine.mark).map(asked)))
      assert.equal(answer.status, 200, `${endpoint.name}: ${answer.text}`)
  }
})

/**
 * Operations that need something the account does not have (a waiting call, a mailbox, an action that escalates, a result of a run) or
 * that remove something other operations need (a silent mail is answered once).
 */
const UNPROVEN =
  /\/tool-result|\/inbox\/views|\/answer-runs\/.*\/reviews$|\/merge$|\/separate$|\/email\/connection|\/email\/silent\/|PUT .*\/ticket-statuses$|\/person$|widget.*\/feedback$|\/users\/erase$/

test('the same requests succeed with ids of their own account', async () => {
  const refused: string[] = []
  let tried = 0
  for (const operation of operations) {
    // A DELETE request removes what other requests need, and a live stream never ends.
    const { method, streams, name: called } = operation.endpoint
    if (method === 'DELETE' || streams || called === 'followHelpdesk') continue
    if (UNPROVEN.test(titleOf(operation))) continue
    const own = idsFor(mine, operation)
    for (const { name, shape, path, body } of placesOf(operation)) {
      // A contact has only the custom attributes that the agent knows.
      if (shape.includes('customAttributes.')) continue
      const id = own[name] ?? ''
      const { status, body: answer } = await ask(operation, path(id), body(id))
      tried++
      if (status === 404 || JSON.stringify(answer?.error?.details ?? '').includes(name))
        refused.push(`${titleOf(operation)}, ${shape}: ${status} ${JSON.stringify(answer)}`)
    }
  }
  assert.ok(tried > 100, `${tried} places`)
  assert.deepEqual(refused, [])
})

test('names in addresses outside of the APIs are not looked up in JavaScript objects', async () => {
  for (const name of [...NAMES, 'x', '%00'])
    for (const path of [
      `/pictures/${mine.ids.agentId}/${name}`,
      `/pictures/${name}/icon`,
      `/widget-assets/${name}`,
    ]) {
      const response = await fetch(`${service.url}${path}`)
      await response.text()
      assert.equal(response.status, 404, path)
    }
})

test('only a few files can start a process or evaluate code', () => {
  const server = join(import.meta.dirname, '../server')
  const using = (pattern: RegExp): string[] =>
    readdirSync(server, { recursive: true, encoding: 'utf8' })
      .filter((name) => /(?<!\.test)\.ts$/.test(name))
      .filter((name) => pattern.test(readFileSync(join(server, name), 'utf8')))
      .sort()
  // These start the document readers, create the embedded database and install packages for a local model, with
  // arguments that the service itself sets.
  assert.deepEqual(using(/child_process/), [
    'ai/local/install-runtime.ts',
    'platform/child-process/launch.ts',
    'platform/child-process/resident-size.ts',
    'platform/db/embedded/create-folder.ts',
  ])
  // These send Redis a constant script, and run a library with a time limit.
  assert.deepEqual(using(/\beval\(|new Function\(|node:vm|\bvm\./), [
    'knowledge/documents/office/embedded-files.ts',
    'platform/http/limits/redis-rate-limiter.ts',
  ])
})

/** `FUZZ=long` sends more requests, and measures their time and memory. */
const IS_LONG = process.env.FUZZ === 'long'
/** The number of hostile requests to each operation. */
const BODIES = IS_LONG ? 200 : process.env.TEST_THOROUGH ? 4 : 1
/** The number of requests to each operation that one account serves. */
const ROUNDS_OF_ACCOUNT = 4
const SEED = Number(process.env.PARLEY_SEED ?? 1)

test('hostile requests are rejected or answered, and leave nothing behind', async () => {
  const random = randomOf(SEED)
  let held = 0
  for (let round = 0; round < BODIES; round++) {
    // The requests change and remove so much of an account that later ones would soon find nothing.
    if (round > 0 && round % ROUNDS_OF_ACCOUNT === 0) mine = await fillAccount(service, `mine${round}`)
    for (const operation of operations) {
      const { endpoint } = operation
      // A DELETE request would remove what other requests need, and a live stream never ends.
      const isNamed = !(
        endpoint.method === 'DELETE' ||
        endpoint.streams ||
        endpoint.name === 'followHelpdesk'
      )
      const ids = isNamed ? idsFor(mine, operation) : {}
      const path = pathOf(operation, hostileAt(ids, parametersOf(operation), random))
      const query = Object.entries(propertiesOf(endpoint.query)).flatMap(([name]): [string, string][] =>
        random() < 0.5 ? [[name, random() < 0.3 ? (ids[name] ?? '1') : hostileText(random)]] : [],
      )
      const body = hostileBody((endpoint.body ?? {}) as Schema, random, (name) => ids[name])
      const asked = performance.now()
      const { status, body: answer } = await ask(
        operation,
        `${path}?${new URLSearchParams(query)}`,
        takesForm(operation) ? { chatbotId: hostileText(random) } : body,
      )
      const seconds = (performance.now() - asked) / 1_000
      const code: string = answer?.error?.code ?? ''
      const isDeclared = (endpoint.errors as readonly string[]).includes(code)
      assert.ok(
        (status < 500 || isDeclared) && (seconds < 5 || !IS_LONG),
        `seed ${SEED}, ${titleOf(operation)}: ${status} after ${seconds} s ${JSON.stringify(answer)}\n${path}?${new URLSearchParams(query)}\n${body.slice(0, 2_000)}`,
      )
    }
    if (round === Math.floor(BODIES / 2)) held = process.memoryUsage().rss
  }
  // Nothing that was sent has deleted the agent, which would leave all later requests without effect.
  assert.equal((await mine.client.request('GET', `/agents/${mine.ids.agentId}`)).status, 200)
  assert.equal((Object.prototype as { polluted?: unknown }).polluted, undefined)
  // The first half of the requests warms everything up; the second half must not increase memory use.
  if (IS_LONG) assert.ok(process.memoryUsage().rss - held < 200_000_000, 'memory has grown')
})

const hostileAt = (ids: Record<string, string>, names: string[], random: () => number) =>
  Object.fromEntries(
    names.map((name) => [name, random() < 0.2 ? hostileText(random) : (ids[name] ?? 'none')]),
  )
