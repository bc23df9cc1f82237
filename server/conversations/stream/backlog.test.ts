import assert from 'node:assert/strict'
import { after, before, mock, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { tokens } from '../../../test/fakes/reply.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { until } from '../../../test/until.ts'
import type { LiveGeneration } from './reading.ts'

const MAX_UNSAVED = 500
/** What a few answers add before each of them is asked to wait. */
const SLACK = 200

let models: ModelServer
let service: Service

before(async () => {
  models = await startModelServer()
  service = await startService(models.settings, undefined, { maxUnsaved: MAX_UNSAVED })
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
  const client = await service.account()
  const agentId = await newAgent(client)
  const words = tokens(2_000)
  models.otherwise(({ body }) =>
    JSON.stringify(body).includes('Write a title') ? { tokens: ['Title'] } : { tokens: words },
  )
  const repair = await fillDisk()
  const answers = Array.from({ length: 4 }, () => ask(client, agentId))
  const lives = await until('the answers', async () => {
    const found = await livesOf(agentId)
    return found.length === 4 && found
  })
  const unsaved = () => lives.reduce((sum, live) => sum + live.unsaved.length, 0)
  await until('the limit', () => unsaved() >= MAX_UNSAVED)
  const refused = await ask(client, agentId)
  assert.deepEqual([refused.status, refused.body.error.code], [503, 'SERVICE_OVERLOADED'])
  const stopped = lives.reduce((shorter, live) => (live.count < shorter.count ? live : shorter))
  stopped.abort('stop')
  // The clock of the process jumps forward. What is held is not given up, because it has not been held for long.
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 11 * 60_000 })
  await wait(1_500)
  assert.ok(unsaved() < MAX_UNSAVED + SLACK, `${unsaved()} events are held`)
  await repair()
  const texts = (await Promise.all(answers)).map(({ status, body }) => {
    assert.equal(status, 200)
    return body.data.parts[0].text as string
  })
  const whole = words.join('')
  assert.equal(texts.filter((text) => text === whole).length, 3)
  assert.ok(texts.every((text) => text !== '' && whole.startsWith(text)))
  mock.timers.reset()
  assert.equal(unsaved(), 0)
  assert.equal((await ask(client, agentId)).body.data.parts[0].text, whole)
})

async function livesOf(agentId: string): Promise<LiveGeneration[]> {
  const rows = await service.ctx.db
    .selectFrom('generations')
    .select('id')
    .where('agent_id', '=', agentId)
    .execute()
  return rows.flatMap(({ id }) => service.ctx.generations.get(id) ?? [])
}
