import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { answersAsked, type ModelHome, type Provider, startModelHome } from '../../../test/model-home.ts'
import { until } from '../../../test/until.ts'
import { providers } from '../../ai/catalogue/catalogue.ts'

/** `node --test --test-update-snapshots` on this file writes them anew. */
const SNAPSHOTS = join(import.meta.dirname, '../../../test/fixtures/requests')

let home: ModelHome
before(async () => {
  home = await startModelHome()
})
after(() => home.close())

/** Asks twice in one conversation; the first answer calls an action. Returns the requests of the second question. */
async function askTwice(provider: Provider) {
  const { client, server } = home
  const agentId = await home.agentOf(provider)
  let conversationId: string | undefined
  const say = async (message: string) => {
    const sent = { message, stream: false, conversationId }
    const { status, body } = await client.request('POST', `/agents/${agentId}/chat`, sent)
    assert.equal(status, 200, JSON.stringify(body))
    conversationId = body.data.metadata.conversationId
    return body.data.id as string
  }
  const told = { usage: [1_000, 20] as [number, number], cached: 800 }
  const noted = { id: 'c1', name: 'note_person', input: { name: 'Ada', email: 'a@example.com' } }
  server.queue.push({ toolCalls: [noted], ...told }, { tokens: ['Noted.'], ...told })
  await say('I am Ada, a@example.com.')
  server.queue.push({ tokens: ['Five years [1].\n<answer-outcome>answered</answer-outcome>'], ...told })
  const messageId = await say('How long is the warranty of the Halo lamp?')
  assert.deepEqual(server.refusals, [])
  const bodies = answersAsked(server).map(({ body }) => body)
  return {
    path: `/agents/${agentId}/conversations/${conversationId}/messages/${messageId}/explanation`,
    agentId,
    bodies: bodies.slice(-3),
  }
}

const marks = (body: unknown): number => JSON.stringify(body).split('"cache_control"').length - 1

/** Replaces what differs from run to run. */
const readable = (body: unknown): string =>
  JSON.stringify(body, null, 2)
    .replace(/(data-|company-|"prompt_cache_key": ")[0-9a-f]{12}/g, '$1KEY')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
    .replace(/Time of the message: [^\\]+/g, 'Time of the message: NOW')
    .replace(/date=\\"\d{4}-\d{2}-\d{2}\\"/g, 'date=\\"DAY\\"')
    .replaceAll('\\n', '\n')

for (const provider of providers)
  test(`${provider}: a whole request, what it asks of the cache, and what that gave`, async (t: TestContext) => {
    const { bodies, agentId, path } = await askTwice(provider)
    const isOpenAi = provider === 'openai' || provider === 'openai-responses'
    for (const body of bodies) {
      assert.equal(body.store, isOpenAi ? false : undefined)
      assert.match(String(body.prompt_cache_key), isOpenAi ? /^[0-9a-f]{12}$/ : /^undefined$/)
      assert.equal(body.prompt_cache_key, bodies[0].prompt_cache_key)
    }
    // The instructions, then also what a tool returned, then what was said before the question.
    assert.deepEqual(bodies.map(marks), provider === 'anthropic' ? [1, 2, 2] : [0, 0, 0])
    const newest = bodies[2]
    if (provider === 'anthropic') {
      assert.deepEqual([marks(newest.system[0]), marks(newest.system[1])], [1, 0])
      assert.deepEqual(newest.messages.slice(-2).map(marks), [1, 0])
      assert.deepEqual(bodies[1].messages.slice(-2).map(marks), [0, 1])
    }
    const [step] = (await home.client.request('GET', path)).body.data.madeOf.steps
    assert.deepEqual([step.inputTokens, step.cachedTokens], [1_000, 800])
    await until('the count', async () => {
      const { models } = (await home.client.request('GET', '/usage')).body
      const used = models.find((one: { agentId: string }) => one.agentId === agentId)
      return used?.inputTokens === 3_000 && used.cachedTokens === 2_400
    })
    t.assert.fileSnapshot(readable(newest), join(SNAPSHOTS, `${provider}.txt`), { serializers: [String] })
  })
