import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startModelServer } from '../test/fakes/model-server.ts'
import { NEVER, type Reply } from '../test/fakes/reply.ts'
import { type Client, startService } from '../test/start.ts'
import { trained, until } from '../test/until.ts'
import { visitorOf } from '../test/visitor.ts'

/**
 * Prints what a customer sees, who answered and what it cost when a provider does what it should not:
 * `node bench/model-faults.ts`. The model costs 2 credits, its fallback 5; it may take two seconds to its first word, and
 * one between two.
 */
const OK: Reply = { tokens: ['It has', ' a warranty', ' of five years [1].'] }
const CUT: Reply = { tokens: ['It has', ' a warranty', ' of five years'] }
const FAULTS: [string, Reply[]][] = [
  ['nothing', [OK]],
  ['is killed before its first word', [{ ...CUT, dropAfter: 0 }]],
  ['is killed after two words', [{ ...CUT, delayMs: 100, dropAfter: 2 }]],
  ['says nothing', [{ after: NEVER }]],
  ['stops after two words', [{ ...CUT, stallAfter: 2 }]],
  ['429, again in a second, then answers', [{ status: 429, retryAfter: 1 }, OK]],
  ['429 without a date, then answers', [{ status: 429 }, OK]],
  ['429 without a date, always', [{ status: 429 }]],
  ['429, again in ten minutes', [{ status: 429, retryAfter: 600 }]],
  ['500, always', [{ status: 500 }]],
  ['an empty answer, then answers', [{}, OK]],
  ['an empty answer, always', [{}]],
  ['refuses (content filter)', [{ finishReason: 'content_filter' }]],
  ['thinks until its limit, always', [{ reasoning: 'Hm', finishReason: 'length' }]],
]

const models = await startModelServer()
/** The replies of the model, in order; the last one is repeated. */
let replies: Reply[] = []
models.otherwise(({ body }) => {
  if (body.model === 'second') return OK
  return (replies.length > 1 ? replies.shift() : replies[0]) ?? OK
})
const folder = await mkdtemp(join(tmpdir(), 'faults-'))
const file = join(folder, 'models.json')
const entry = (id: string, more: object) => ({
  id,
  name: id === 'second' ? 'second' : 'first',
  provider: 'openai-compatible',
  baseUrl: `${models.url}/v1`,
  timeouts: { firstToken: 2_000, idle: 1_000 },
  ...more,
})
await writeFile(
  file,
  JSON.stringify({
    small: 'second',
    models: [
      entry('alone', { credits: 2 }),
      entry('first', { credits: 2, fallbacks: ['second'] }),
      entry('second', { credits: 5 }),
    ],
  }),
)
const service = await startService({ MODELS_FILE: file })
const client = await service.account()
/** Visitors whose answer failed are answered later, so they belong to an account of their own. */
const ofVisitors = await service.account()

async function agentWith(model: string, client: Client): Promise<string> {
  const made = await client.request('POST', '/agents', { name: model, model, visibility: 'public' })
  const source = { type: 'text', name: 'Warranty', content: 'The lamp has a warranty of five years.' }
  const { id } = made.body
  await trained(service, (await client.request('POST', `/agents/${id}/sources`, source)).body.id)
  await client.request('POST', `/agents/${id}/actions`, {
    type: 'escalate',
    name: 'get_help',
    description: 'd',
  })
  return id
}

const used = async (): Promise<number> => (await client.request('GET', '/me')).body.credits.used
/** What is used once nothing changes any more: the credits of a turn are settled after its last word. */
async function settled(): Promise<number> {
  for (let before = await used(); ; ) {
    await wait(500)
    const now = await used()
    if (now === before) return now
    before = now
  }
}
const MESSAGE = 'How long is the warranty of the lamp?'

async function byProgram(agentId: string): Promise<string[]> {
  await service.ctx.generations.idle()
  const before = await settled()
  const began = performance.now()
  const { status, body } = await client.request('POST', `/agents/${agentId}/chat`, {
    message: MESSAGE,
    stream: false,
  })
  const ms = performance.now() - began
  const text = (body.data?.parts ?? []).map((part: { text?: string }) => part.text ?? '').join('')
  const { finishReason = '', model } = body.data?.metadata ?? {}
  await service.ctx.generations.idle()
  const seen = status === 200 ? `“${text}” (${finishReason})` : `${status} ${body.error?.code}`
  return [
    seen,
    status === 200 && text !== '' ? (model ?? 'the first') : 'nobody',
    String((await settled()) - before),
    `${(ms / 1_000).toFixed(1)} s`,
  ]
}

/** What a visitor sees once nothing more comes, and whether the team has a ticket. */
async function byVisitor(agentId: string): Promise<string[]> {
  const visitor = visitorOf(service, agentId)
  const { conversationId } = await visitor.write(MESSAGE)
  await (await visitor.follow(conversationId)).text()
  await service.ctx.generations.idle()
  await until('the end of the turn', async () => !(await visitor.read(conversationId)).answering)
  const { messages } = await visitor.read(conversationId)
  const answer = messages.findLast(({ role }: { role: string }) => role === 'assistant')
  const { data: tickets } = (await ofVisitors.request('GET', `/agents/${agentId}/helpdesk/tickets?limit=100`))
    .body
  const hasTicket = tickets.some((one: { conversationId: string }) => one.conversationId === conversationId)
  const seen = !answer
    ? 'an error, and “Try again”'
    : answer.isSilent
      ? 'that no answer was found'
      : `“${answer.text}”`
  return [hasTicket ? `${seen}; a ticket is open` : seen]
}

const rows: string[] = []
for (const model of ['alone', 'first']) {
  const [asked, visited] = [await agentWith(model, client), await agentWith(model, ofVisitors)]
  for (const [what, own] of FAULTS) {
    replies = [...own]
    const cells = await byProgram(asked)
    replies = [...own]
    cells.push(...(await byVisitor(visited)))
    rows.push(`| ${what} | ${model === 'first' ? 'second' : 'none'} | ${cells.join(' | ')} |`)
  }
}
await service.close()
await models.close()
await rm(folder, { recursive: true })
process.stdout.write(
  `| the provider | fallback | a program gets | who answered | credits | time | a visitor sees |\n${'| - '.repeat(7)}|\n${rows.join('\n')}\n`,
)
process.exit()
