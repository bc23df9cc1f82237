import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startModelServer } from '../test/fakes/model-server.ts'
import type { ModelRequest, Reply } from '../test/fakes/reply.ts'

/**
 * Tries the defects that a review of version 4fec835d found, on the service in any checkout, by its API and what it sends
 * to providers: `node bench/model-review.ts [FOLDER]`. It prints which are there.
 */
const root = resolve(process.argv[2] ?? join(import.meta.dirname, '..'))
const models = await startModelServer()
/** What the model says next; anything else that it is asked for is answered with nonsense. */
let replies: Reply[] = []
let refuse: ((request: ModelRequest) => Reply | null) | null = null
const isAnswer = (request: ModelRequest): boolean => /You sell lamps/.test(JSON.stringify(request.body))
models.otherwise((request) => {
  if (!isAnswer(request)) return { tokens: ['Where can I park at the museum?'] }
  return refuse?.(request) ?? replies.shift() ?? { tokens: ['Five years [1].'] }
})

const folder = mkdtempSync(join(tmpdir(), 'review-'))
const file = join(folder, 'models.json')
const entry = (id: string, provider: string, name: string, more: object = {}) => ({
  id,
  provider,
  name,
  apiKey: 'k',
  baseUrl: `${models.url}/${provider === 'google' ? 'v1beta' : 'v1'}`,
  ...more,
})
writeFileSync(
  file,
  JSON.stringify({
    models: [
      entry('chat', 'openai-compatible', 'local'),
      entry('small', 'openai-compatible', 'local', { contextTokens: 2_000 }),
      entry('responses', 'openai-responses', 'gpt-5.4-mini'),
      entry('claude', 'anthropic', 'claude-sonnet-5-5'),
      entry('gemini', 'google', 'gemini-3.8-flash'),
    ],
  }),
)
const env = {
  PATH: process.env.PATH,
  DATA_DIR: folder,
  MODELS_FILE: file,
  PORT: '0',
  HOST: '127.0.0.1',
  SEED_DEMO: '0',
  ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
  LOG_LEVEL: 'error',
}
const cli = (...args: string[]): { id: string; key: string } =>
  JSON.parse(
    execFileSync(process.execPath, ['server/cli.ts', ...args, '--json'], { cwd: root, env }).toString(),
  )
const { id: accountId } = cli('account', 'create', '--name', 'Review', '--plan', 'unlimited')
const { key } = cli('keys', 'create', '--account', accountId, '--name', 'review')
const port = 18_000 + Math.floor(Math.random() * 2_000)
const child = spawn(process.execPath, ['server/main.ts'], {
  cwd: root,
  env: { ...env, PORT: String(port) },
  stdio: 'ignore',
})

// biome-ignore lint/suspicious/noExplicitAny: responses of every shape are read
async function call(method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  if (response.status === 429) {
    await wait(1_000)
    return call(method, path, body)
  }
  return { status: response.status, ...((await response.json()) as object) }
}

for (let tries = 0; tries < 300; tries++) {
  const isUp = await call('GET', '/me').then(
    ({ status }) => status === 200,
    () => false,
  )
  if (isUp) break
  await wait(200)
}

async function agentWith(model: string, sources = 1): Promise<string> {
  const { id } = await call('POST', '/agents', { name: 'Lumi', model, instructions: 'You sell lamps.' })
  for (let at = 0; at < sources; at++) {
    const content = `The Halo lamp number ${at} has a warranty of five years. ${'Its light is warm and white, and it hangs. '.repeat(18)}`
    await call('POST', `/agents/${id}/sources`, { type: 'text', name: `Warranty ${at}`, content })
  }
  for (let tries = 0; tries < 300; tries++) {
    const { data } = await call('GET', `/agents/${id}/sources?limit=100`)
    if (data.every(({ status }: { status: string }) => status === 'trained')) return id
    await wait(100)
  }
  return id
}

const QUESTION = 'How long is the warranty of the Halo lamp?'
async function chat(agentId: string, body: object = {}, ...said: Reply[]) {
  const before = models.requests.length
  replies = said
  const answer = await call('POST', `/agents/${agentId}/chat`, { stream: false, message: QUESTION, ...body })
  const requests = models.requests.slice(before).filter(isAnswer)
  const parts: { text?: string }[] = answer.data?.parts ?? []
  return {
    ...answer,
    text: parts.map(({ text = '' }) => text).join(''),
    conversationId: answer.data?.metadata?.conversationId,
    requests: requests.map(({ body: sent }) => sent),
  }
}
const used = async (): Promise<number> => (await call('GET', '/me')).credits.used

const action = {
  type: 'client',
  name: 'show_map',
  description: 'Shows the way',
  inputs: { type: 'object', properties: {} },
}
const lead = { type: 'collect-leads', name: 'note_person', description: 'Notes the customer' }
const ann = { id: 'c1', name: 'note_person', input: { name: 'Ann', email: 'ann@example.com' } }

/** Each returns whether the service does what it should. */
const DEFECTS: [string, () => Promise<boolean>][] = [
  [
    '1. a server that refuses `max_tokens` and `temperature` gets no answer',
    async () => {
      const id = await agentWith('chat')
      refuse = ({ body }) => {
        const wrong = ['max_tokens', 'temperature'].find((field) => field in body)
        const errorMessage = `Unsupported parameter: '${wrong}' is not supported with this model.`
        return wrong ? { status: 400, errorMessage } : null
      }
      const { status, text } = await chat(id)
      refuse = null
      return status === 200 && text !== ''
    },
  ],
  [
    '2. after an action of the application, the model has no passages',
    async () => {
      const id = await agentWith('chat')
      await call('POST', `/agents/${id}/actions`, action)
      const first = await chat(id, {}, { toolCalls: [{ id: 'c2', name: 'show_map', input: {} }] })
      const { toolCallId } = first.data.parts.find(({ type }: { type: string }) => type === 'tool-call')
      const { conversationId } = first
      await call('POST', `/agents/${id}/conversations/${conversationId}/tool-result`, {
        toolCallId,
        output: {},
      })
      const next = await chat(id, { message: undefined, conversationId })
      return JSON.stringify(next.requests).includes('five years') && next.text.includes('[1]')
    },
  ],
  [
    '4. a wrong rewrite takes the right passage away',
    async () => {
      const id = await agentWith('chat')
      const content = 'You can park at the museum for two euros an hour.'
      await call('POST', `/agents/${id}/sources`, { type: 'text', name: 'Parking', content })
      await wait(2_000)
      const { conversationId } = await chat(id)
      const next = await chat(id, { conversationId, message: 'And is the light warm?' })
      return JSON.stringify(next.requests.at(-1)?.messages.at(-1)).includes('five years')
    },
  ],
  [
    '5. an answer that ends in its reasoning is charged',
    async () => {
      const id = await agentWith('chat')
      const before = await used()
      const cut = { reasoning: 'Hm', finishReason: 'length' }
      await chat(id, {}, cut, cut, cut, cut)
      await wait(1_000)
      return (await used()) === before
    },
  ],
  [
    '6. what a model thought before a call does not go back with it',
    async () => {
      const id = await agentWith('claude')
      await call('POST', `/agents/${id}/actions`, lead)
      const { requests } = await chat(
        id,
        {},
        { reasoning: 'Note her first.', toolCalls: [ann] },
        { tokens: ['Noted.'] },
      )
      return JSON.stringify(requests.at(-1)).includes('Note her first.')
    },
  ],
  [
    '7. the system text contradicts procedures',
    async () => {
      const id = await agentWith('chat')
      const { id: made } = await call('POST', `/agents/${id}/procedures`, {
        name: 'Late order',
        trigger: 'The order is late.',
        steps: ['Ask for its number.'],
      })
      await call('PUT', `/agents/${id}/procedures/${made}`, { enabled: true })
      const { requests } = await chat(id)
      return /except for the steps that start_procedure returns/.test(JSON.stringify(requests))
    },
  ],
  [
    '8. nothing before the newest message can be cached',
    async () => {
      const id = await agentWith('chat')
      const first = await chat(id)
      const second = await chat(id, { conversationId: first.conversationId })
      const system = (request: ModelRequest['body']) =>
        JSON.stringify(request.messages.filter(({ role }: { role: string }) => role === 'system'))
      return system(first.requests[0]) === system(second.requests[0])
    },
  ],
  [
    '9. an earlier answer loses its citations',
    async () => {
      const id = await agentWith('chat')
      const { conversationId } = await chat(id)
      const { requests } = await chat(id, { conversationId })
      const said = requests[0].messages.find(({ role }: { role: string }) => role === 'assistant')
      return /\[1\]/.test(JSON.stringify(said))
    },
  ],
  [
    '10. passages may fill the context of a small model',
    async () => {
      const { requests } = await chat(await agentWith('small', 10))
      const passages = JSON.stringify(requests).split('<passage').slice(1).join('')
      return passages.length > 0 && passages.length < 3_500
    },
  ],
  [
    '11. Gemini 3 gets temperature 0 by default',
    async () => {
      const { requests } = await chat(await agentWith('gemini'))
      return requests.length > 0 && requests[0].generationConfig?.temperature === undefined
    },
  ],
  [
    '12. how an answer ended is not known',
    async () => {
      const id = await agentWith('chat')
      const { data } = await chat(
        id,
        {},
        {
          tokens: ['I do not know that.\n', '<answer-outcome>not_found</answer-outcome>'],
        },
      )
      return data.metadata.outcome === 'not_found' && !JSON.stringify(data.parts).includes('answer-outcome')
    },
  ],
  [
    '13. OpenAI keeps what it was sent',
    async () => {
      const { requests } = await chat(await agentWith('responses'))
      return requests[0]?.store === false
    },
  ],
]

let there = 0
for (const [what, isRight] of DEFECTS) {
  const outcome = await isRight().catch((error: Error) => error)
  const isDefect = outcome !== true
  if (isDefect) there++
  process.stdout.write(
    `${isDefect ? 'there' : 'gone '}  ${what}${outcome instanceof Error ? ` (${outcome.message})` : ''}\n`,
  )
}
process.stdout.write(`${there} of ${DEFECTS.length} are there\n`)
child.kill()
await models.close()
await wait(500)
rmSync(folder, { recursive: true, force: true })
process.exit()
