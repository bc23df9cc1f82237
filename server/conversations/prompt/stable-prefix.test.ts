import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  answersAsked,
  type ModelHome,
  type Provider,
  partsOf,
  startModelHome,
} from '../../../test/model-home.ts'
import { createMember } from '../../accounts/records/members.ts'
import { providers } from '../../ai/catalogue/catalogue.ts'

let home: ModelHome
before(async () => {
  home = await startModelHome()
})
after(() => home.close())

/** Marks of the cache are no part of what a provider compares. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (name, inner) => (name === 'cache_control' ? undefined : inner))

/** Returns the bytes of the newest request up to the customer's newest message. */
function prefix(): string {
  assert.deepEqual(home.server.refusals, [])
  const { head, messages } = partsOf(answersAsked(home.server).at(-1)!)
  const isResult = (message: object): boolean =>
    /"(?:tool_result|functionResponse)"/.test(JSON.stringify(message))
  const newest = messages.findLastIndex((message) => message.role === 'user' && !isResult(message))
  return textOf([head, ...messages.slice(0, newest)]).slice(0, -1)
}

async function conversation(provider: Provider) {
  const { client, server } = home
  const agentId = await home.agentOf(provider)
  const v1 = async (method: string, path: string, body: object): Promise<void> => {
    const answer = await client.request(method, `/api/v1/chatbots/${agentId}${path}`, body)
    assert.ok(answer.status < 300, JSON.stringify(answer.body))
  }
  let conversationId: string | undefined
  return {
    agentId,
    v1,
    at: (path: string) => `/agents/${agentId}/conversations/${conversationId}/${path}`,
    async say(message: string | undefined, ...replies: Parameters<typeof server.queue.push>) {
      server.queue.push(...replies)
      const body = { message, conversationId, stream: false, ...(conversationId ? {} : { userId: 'ada' }) }
      const answer = await client.request('POST', `/agents/${agentId}/chat`, body)
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
      conversationId = answer.body.data.metadata.conversationId
      return answer.body.data
    },
  }
}

for (const provider of providers)
  test(`${provider}: what stands before the newest message is the same in the next request`, async () => {
    const { client } = home
    const talk = await conversation(provider)
    const prefixes: string[] = []
    const say = async (...said: Parameters<typeof talk.say>) => {
      const answer = await talk.say(...said)
      prefixes.push(prefix())
      return answer
    }
    await say('How long is the warranty of the Halo lamp?', {
      tokens: ['Five years [1].\n<answer-outcome>answered</answer-outcome>'],
    })
    // Another question finds other passages, or none.
    await say('thanks', { tokens: ['You are welcome.'] })
    await say(
      'Note me',
      { toolCalls: [{ id: 'c1', name: 'note_person', input: { name: 'Ada', email: 'a@example.com' } }] },
      { tokens: ['Noted.'] },
    )
    await say(
      'Search for Halo',
      { toolCalls: [{ id: 'c2', name: 'search_documents', input: { query: 'Halo' } }] },
      { tokens: ['Done.'] },
    )
    const shown = await say('Where are you?', {
      toolCalls: [{ id: 'c3', name: 'show_map', input: { place: 'Oslo' } }],
    })
    const { toolCallId } = shown.parts.find(({ type }: { type: string }) => type === 'tool-call')
    await client.request('POST', talk.at('tool-result'), { toolCallId, output: { shown: true } })
    await say(undefined, { tokens: ['There it is.'] })
    const people = { users: [{ external_id: 'ada', name: 'Ada', custom_attributes: { plan: 'gold' } }] }
    await talk.v1('POST', '/custom-attributes', { name: 'plan', type: 'text' })
    await talk.v1('POST', '/contacts', people)
    await say('Do you know me?', { tokens: ['Yes.'] })
    assert.match(JSON.stringify(answersAsked(home.server).at(-1)!.body), /plan: gold/)
    await talk.v1('PATCH', '/contacts/ada', { custom_attributes: { plan: 'silver' } })
    await say('And now?', { tokens: ['Yes.'] })
    assert.match(JSON.stringify(answersAsked(home.server).at(-1)!.body), /plan: silver/)
    const account = { id: client.accountId, plan: 'unlimited' }
    const member = { email: `${provider}@example.com`, name: 'Ann' }
    const { id: memberId } = (await createMember(home.service.ctx.db, account, member)) as { id: string }
    const taken = await client.request('POST', talk.at('takeover'), { memberId })
    assert.equal(taken.status, 200, JSON.stringify(taken.body))
    const reply = { type: 'reply', content: 'Ann here.', authorEmail: member.email }
    const tickets = `/agents/${talk.agentId}/helpdesk/tickets/${taken.body.data.ticketNumber}`
    assert.equal((await client.request('POST', `${tickets}/messages`, reply)).status, 201)
    assert.equal((await client.request('POST', talk.at('handback'))).status, 200)
    await say('Are you back?', { tokens: ['Yes.'] })
    await say('Good', { tokens: ['Fine.'] })
    for (const [at, now] of prefixes.slice(1).entries())
      assert.ok(now.startsWith(prefixes[at]!), `turn ${at + 2}:\n${prefixes[at]}\n${now}`)
    assert.match(prefixes.at(-1)!, /Ann here\./)
  })
