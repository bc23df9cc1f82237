import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../../test/fakes/model-server.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { trained, until } from '../../../../test/until.ts'
import { newId } from '../../../platform/db/ids.ts'
import { lookNow } from '../analysis/for-tests.ts'
import { askAgain } from './ask-again.ts'

let service: Service
let client: Client
let server: ModelServer
/** The number of requests to the model server. */
let calls = 0

before(async () => {
  server = await startModelServer()
  server.otherwise(({ body }) => {
    calls++
    const analyses = /Classify one finished conversation/.test(body.messages[0].content)
    const verdict = { sentiment: 'neutral', topics: [], newTopic: null }
    return { tokens: [analyses ? JSON.stringify(verdict) : 'I do not know that.'] }
  })
  service = await startService({
    OPENAI_BASE_URL: `${server.url}/v1`,
    OPENAI_MODEL: 'chat',
    OPENAI_API_KEY: 'x',
  })
  client = await service.account()
})
after(async () => {
  await service.close()
  await server.close()
})

type Group = { id: string; question: string; askedAgainAt: string | null; lastAskedAt: string }

async function agentWith(model: string, questions: readonly string[]) {
  const agentId: string = (await client.request('POST', '/agents', { name: 'Shop', model })).body.id
  const path = `/agents/${agentId}`
  const asked = new Map<string, { conversationId: string; id: string }>()
  for (const message of questions) {
    const { data } = (await client.request('POST', `${path}/chat`, { stream: false, message })).body
    asked.set(message, { conversationId: data.metadata.conversationId, id: data.id })
  }
  await lookNow(service.ctx, agentId)
  const groups = async (status = 'open'): Promise<Group[]> =>
    (await client.request('GET', `${path}/insights/unanswered?status=${status}`)).body.data
  const learn = async (body: object): Promise<void> => {
    const { body: source } = await client.request('POST', `${path}/sources`, body)
    await trained(service, source.id)
  }
  return { agentId, path, asked, groups, learn }
}

const OAT = 'Do you sell oat milk?'
const BICYCLE = 'Where can I park my bicycle?'
const TEXT = {
  type: 'text',
  name: 'Milk',
  content: 'We sell oat milk, soy milk and almond milk, one litre for 2 euros.',
}
const isAskedAgain = ({ askedAgainAt, lastAskedAt }: Group): boolean => (askedAgainAt ?? '') > lastAskedAt
const questionsOf = (groups: readonly Group[]): string[] => groups.map(({ question }) => question).sort()

for (const model of ['builtin', 'chat']) {
  test(`a question that a new source answers leaves the list, without credits or a conversation (${model})`, async () => {
    const { agentId, groups, learn } = await agentWith(model, [OAT, BICYCLE])
    assert.deepEqual(questionsOf(await groups()), [OAT, BICYCLE])
    assert.ok(!(await groups()).some(isAskedAgain))
    const before = [(await client.request('GET', '/me')).body.credits, calls]
    await learn(TEXT)
    const left = await until('the oat milk to leave the list', async () => {
      const open = await groups()
      return open.every(isAskedAgain) && open
    })
    assert.deepEqual(
      questionsOf(left),
      [BICYCLE],
      'what is still not found stays, and says that it was asked again',
    )
    assert.deepEqual(questionsOf(await groups('answered')), [OAT])
    assert.deepEqual([(await client.request('GET', '/me')).body.credits, calls], before)
    const conversations = await service.ctx.db
      .selectFrom('conversations')
      .select('id')
      .where('agent_id', '=', agentId)
      .execute()
    assert.equal(conversations.length, 2)
  })
}

test('a correction answers the question; an answer that the agent does not find puts it back on the list', async () => {
  const { path, asked, groups } = await agentWith('builtin', [OAT, BICYCLE])
  const { conversationId, id } = asked.get(BICYCLE)!
  const correction = `${path}/conversations/${conversationId}/messages/${id}/correction`
  await client.request('POST', correction, { answer: 'Behind the house.' })
  await until('the bicycle to leave the list', async () => !questionsOf(await groups()).includes(BICYCLE))

  const [oat] = await groups()
  const answer = { answer: 'On Mondays only.', question: 'When do you open the greenhouse?' }
  await client.request('POST', `${path}/insights/unanswered/${oat?.id}/answer`, answer)
  assert.deepEqual(await groups(), [])
  const back = await until('the oat milk to return', async () => (await groups())[0])
  assert.deepEqual([back.id, isAskedAgain(back)], [oat?.id, true])
})

test('what the agent has said is refused as the right answer', async () => {
  const { path, asked, groups } = await agentWith('builtin', [OAT])
  const { conversationId, id } = asked.get(OAT)!
  const messages = `${path}/conversations/${conversationId}`
  const said: string = (await client.request('GET', messages)).body.data.messages.at(-1).parts[0].text
  const [group] = await groups()
  for (const place of [
    `${messages}/messages/${id}/correction`,
    `${path}/insights/unanswered/${group?.id}/answer`,
  ]) {
    const { status, body } = await client.request('POST', place, {
      answer: ` ${said.replaceAll(' ', '\n')} `,
    })
    assert.deepEqual(
      [status, body.error.code, Object.keys(body.error.details)],
      [400, 'VALIDATION_INVALID_BODY', ['answer']],
    )
  }
  assert.deepEqual((await client.request('GET', `${path}/sources`)).body.data, [])
})

test('the newest questions are asked again first, up to fifty in a minute and five hundred on a day', async () => {
  const { agentId } = await agentWith('builtin', [OAT])
  const { db } = service.ctx
  const ref = { accountId: client.accountId, agentId }
  const group = { account_id: client.accountId, agent_id: agentId, count: 1 }
  const add = (count: number, lastAskedAt: Date) =>
    db
      .insertInto('unanswered_groups')
      .values(
        Array.from({ length: count }, () => ({
          ...group,
          id: newId(),
          question: 'Where is the moon?',
          key: newId(),
          last_asked_at: lastAskedAt,
        })),
      )
      .execute()
  await add(60, new Date('2026-01-01'))
  await db
    .updateTable('agents')
    .set({ knowledge_version: 5, last_trained_at: new Date() })
    .where('id', '=', agentId)
    .execute()
  const again = () =>
    db
      .selectFrom('unanswered_groups')
      .select(['question', 'asked_again_count'])
      .where('agent_id', '=', agentId)
      .where('asked_again_at', 'is not', null)
      .execute()
  const run = () => askAgain(service.ctx, ref, AbortSignal.timeout(60_000))
  await run()
  await run()
  assert.equal((await again()).length, 50)
  assert.ok((await again()).some(({ question }) => question === OAT))
  const minuteAgo = {
    asked_again_at: new Date(Math.max(Date.now() - 61_000, new Date().setUTCHours(0, 0, 0, 0))),
  }
  await db
    .updateTable('unanswered_groups')
    .set({ ...minuteAgo, asked_again_count: 10 })
    .where('agent_id', '=', agentId)
    .where('asked_again_at', 'is not', null)
    .execute()
  await run()
  assert.equal((await again()).length, 50, 'the day is used up')
})
