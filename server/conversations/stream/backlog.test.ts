import assert from 'node:assert/strict'
import { after, before, mock, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { tokens } from '../../../test/fakes/reply.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { until } from '../../../test/until.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { createBacklog } from './generation-log.ts'

const MAX_COUNT = 160_000
/** What a few answers add before each of them is asked to wait. */
const SLACK = 30_000

let models: ModelServer
let service: Service
let held = 0
let peak = 0

before(async () => {
  const backlog = createBacklog(MAX_COUNT)
  models = await startModelServer()
  service = await startService(models.settings, undefined, {
    backlog: {
      ...backlog,
      add(accountId, characters) {
        held += characters
        peak = Math.max(peak, held)
        backlog.add(accountId, characters)
      },
    },
  })
})
after(async () => {
  mock.timers.reset()
  await service.close()
  await models.close()
})

/** Lets every write to the log fail, as when its disk is full, until the returned function is called. */
async function fillDisk(): Promise<() => Promise<unknown>> {
  const run = (text: string) => sql.raw(text).execute(service.ctx.db)
  await run(`create function refuse_row() returns trigger language plpgsql as
    $$ begin raise exception 'no space left on device' using errcode = '53100'; end $$`)
  await run('create trigger full_disk before insert on generation_log execute function refuse_row()')
  return async () => {
    await run('drop trigger full_disk on generation_log')
    await run('drop function refuse_row')
  }
}

const newAgent = async (client: Client): Promise<string> =>
  (await client.request('POST', '/agents', { name: 'Agent' })).body.id
const ask = (client: Client, agentId: string) =>
  client.request('POST', `/agents/${agentId}/chat`, { message: 'Hello?', stream: false })

test('while the log cannot be written, answers wait at the limit of memory, new ones are refused, and none loses a word', async () => {
  const [client, other] = [await service.account(), await service.account()]
  const [agentId, otherId] = [await newAgent(client), await newAgent(other)]
  const words = tokens(2_000)
  models.otherwise(({ body }) =>
    JSON.stringify(body).includes('Write a title') ? { tokens: ['Title'] } : { tokens: words },
  )
  const repair = await fillDisk()
  const answers = Array.from({ length: 4 }, () => ask(client, agentId))
  const refused = await until('the limit', async () => {
    const answer = held > MAX_COUNT / 2 && (await ask(client, agentId))
    return answer && answer.status === 503 ? answer : undefined
  })
  assert.equal(refused.body.error.code, 'SERVICE_OVERLOADED')
  models.queue.push({ tokens: ['Half of the room is for others.'] })
  const theirs = ask(other, otherId)
  const rows = await service.ctx.db
    .selectFrom('generations')
    .select('id')
    .where('agent_id', '=', agentId)
    .execute()
  const lives = rows.flatMap(({ id }) => service.ctx.generations.get(id) ?? [])
  const stopped = lives.reduce((shorter, live) => (live.count < shorter.count ? live : shorter))
  stopped.abort('stop')
  // The clock of the process jumps forward. What is held is not given up, because it has not been held for long.
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 11 * 60_000 })
  await wait(1_500)
  await repair()
  const texts = (await Promise.all(answers)).map(({ status, body }) => {
    assert.equal(status, 200)
    return body.data.parts[0].text as string
  })
  const whole = words.join('')
  assert.equal(texts.filter((text) => text === whole).length, 3)
  assert.ok(texts.every((text) => text !== '' && whole.startsWith(text)))
  assert.equal((await theirs).body.data?.parts[0].text, 'Half of the room is for others.')
  mock.timers.reset()
  assert.ok(peak < MAX_COUNT / 2 + SLACK, `${peak} characters were held`)
  assert.equal(held, 0)
  assert.equal((await ask(client, agentId)).body.data.parts[0].text, whole)
})

test('one account gets at most half of the room, and those that wait go on when there is some', async () => {
  const [one, two] = ['one', 'two'] as AccountId[] as [AccountId, AccountId]
  const backlog = createBacklog(100)
  const { signal } = new AbortController()
  backlog.add(one, 50)
  assert.deepEqual([backlog.isFull(one), backlog.isFull(two)], [true, false])
  assert.equal(backlog.room(two, signal), undefined)
  const first = backlog.room(one, signal)
  backlog.add(two, 50)
  const second = backlog.room(two, signal)
  const stop = new AbortController()
  const aborted = backlog.room(two, stop.signal)
  stop.abort()
  await aborted
  backlog.add(one, -1)
  await first
  backlog.add(two, -1)
  await second
  assert.equal(backlog.room(two, signal), undefined)
})
