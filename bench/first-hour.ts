import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Agent, FormData, fetch } from 'undici'
import { prepare, start, startOptions, stop } from './service.ts'

/**
 * Asks a real language model the questions of bench/first-hour through the chat endpoint, as a stranger would in the
 * first hour: `node bench/first-hour.ts --model-url http://127.0.0.1:8090/v1 --model NAME [--embeddings URL
 * --embedding-model NAME] [--label TEXT] [--only ID,ID]`. Writes bench/results/first-hour.md, unless `--only` is given.
 */
const { values: options } = parseArgs({
  options: {
    'model-url': { type: 'string', default: 'http://127.0.0.1:8090/v1' },
    model: { type: 'string', default: 'local' },
    embeddings: { type: 'string' },
    'embedding-model': { type: 'string', default: 'multilingual-e5-small' },
    label: { type: 'string', default: 'local model' },
    only: { type: 'string' },
  },
})

type Question = {
  id: string
  question: string
  answerable: boolean
  expected?: string[][]
  history?: string[]
}

type Asked = Question & { answer: string; seconds: number; cited: boolean; given: boolean; held: boolean }

const folder = new URL('./first-hour/', import.meta.url)
const questions: Question[] = JSON.parse(readFileSync(new URL('questions.json', folder), 'utf8'))
const wanted = questions.filter(({ id }) => options.only?.split(',').includes(id) ?? true)
const holds = (text: string, { expected = [] }: Question): boolean =>
  expected.every((group) => group.some((one) => text.toLowerCase().includes(one.toLowerCase())))

/** A small machine may take minutes for one answer. */
const patient = new Agent({ headersTimeout: 0, bodyTimeout: 0 })

/** Passes requests on to the model and keeps the newest, which tells what the model was given. */
async function watchModel(target: string, embeddings = target) {
  let newest = ''
  const server = createServer(async (request, response) => {
    const body = await text(request)
    if (body.includes('<passage')) newest = body
    const path = request.url ?? '/'
    const answer = await fetch(new URL(path, path.endsWith('/embeddings') ? embeddings : target), {
      method: request.method ?? 'GET',
      headers: { 'content-type': 'application/json' },
      ...(body === '' ? {} : { body }),
      dispatcher: patient,
    })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    for await (const piece of answer.body ?? []) response.write(piece)
    response.end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1`, newest: () => newest, close: () => server.close() }
}

const model = await watchModel(options['model-url'], options.embeddings)
const prepared = await prepare(null, 2)
// A small machine reads a prompt for longer than the minute that a model usually has.
const catalogue = join(prepared.env.DATA_DIR!, 'models.json')
const server = { baseUrl: model.url, apiKey: 'none' }
writeFileSync(
  catalogue,
  JSON.stringify({
    models: [
      {
        id: options.model,
        provider: 'openai-compatible',
        name: options.model,
        timeouts: { firstToken: 600_000, idle: 120_000, total: 900_000 },
        ...server,
      },
    ],
    ...(options.embeddings ? { embedding: { name: options['embedding-model'], ...server } } : {}),
  }),
)
const { url, child } = await start([...startOptions, 'server/main.ts'], {
  ...prepared.env,
  MODELS_FILE: catalogue,
  ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
})

/** Sends a request of version 2, again after a rate limit. */
async function call<T>(method: string, path: string, body?: object | FormData): Promise<T> {
  const isForm = body instanceof FormData
  const response = await fetch(`${url}/api/v2/agents/${prepared.agentId}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${prepared.keys[0]}`,
      ...(isForm ? {} : { 'content-type': 'application/json' }),
    },
    ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}),
    dispatcher: patient,
  })
  if (response.status === 429) {
    await wait(1_000)
    return call(method, path, body)
  }
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}

type Chat = {
  data: {
    parts: { type: string; text?: string }[]
    metadata: { conversationId: string; sources?: unknown[] }
  }
}

const ask = (message: string, conversationId?: string): Promise<Chat> =>
  call('POST', '/chat', { stream: false, message, ...(conversationId ? { conversationId } : {}) })

try {
  for (const name of readdirSync(new URL('documents/', folder))) {
    const form = new FormData()
    form.set('type', 'file')
    form.set('name', name)
    form.set('file', new File([readFileSync(new URL(`documents/${name}`, folder))], name))
    await call('POST', '/sources', form)
  }
  for (;;) {
    const { data } = await call<{ data: { status: string }[] }>('GET', '/sources?limit=100')
    if (data.every(({ status }) => status === 'trained')) break
    const failed = data.filter(({ status }) => status === 'failed').length
    if (failed > 0) throw new Error(`${failed} documents could not be read`)
    await wait(500)
  }
  const asked: Asked[] = []
  for (const question of wanted) {
    let conversationId: string | undefined
    for (const before of question.history ?? [])
      conversationId = (await ask(before, conversationId)).data.metadata.conversationId
    const began = performance.now()
    const { data } = await ask(question.question, conversationId)
    const answer = data.parts.map(({ text = '' }) => text).join('')
    const passages = model.newest().split('<passage').slice(1).join('').replaceAll('\\n', '\n')
    asked.push({
      ...question,
      answer,
      seconds: Math.round((performance.now() - began) / 100) / 10,
      cited: (data.metadata.sources?.length ?? 0) > 0,
      given: question.answerable && holds(passages, question),
      held: question.answerable && holds(answer, question),
    })
    const { id, given, held, seconds } = asked.at(-1)!
    console.log(
      `${id}: ${given ? 'given' : 'not given'}, ${held ? 'held' : 'not held'}, ${seconds} s\n  ${answer}`,
    )
  }
  console.log(summary(asked))
  if (!options.only) writeFileSync(new URL('results/first-hour.md', import.meta.url), report(asked))
} finally {
  await stop(child)
  await prepared.remove()
  model.close()
}

function summary(asked: Asked[]): string {
  const answerable = asked.filter((one) => one.answerable)
  const given = answerable.filter((one) => one.given)
  const times = asked.map(({ seconds }) => seconds).toSorted((a, b) => a - b)
  const count = (some: Asked[], is: (one: Asked) => boolean): string =>
    `${some.filter(is).length} of ${some.length}`
  return [
    `- Passage with the fact given: ${count(answerable, (one) => one.given)}`,
    `- Fact in the answer: ${count(answerable, (one) => one.held)}; of those whose passage was given: ${count(given, (one) => one.held)}`,
    `- Answers with a citation: ${count(answerable, (one) => one.cited)}`,
    `- Answers of markers only or empty: ${count(asked, ({ answer }) => answer.replace(/\[\d+\]|\s/g, '') === '')}`,
    `- Whole answer: median ${times[Math.floor(times.length / 2)]} s, longest ${times.at(-1)} s (load ${loadavg()[0]?.toFixed(1)})`,
  ].join('\n')
}

function report(asked: Asked[]): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|').replace(/\s+/g, ' ')
  const rows = asked.map(
    ({ id, question, answer, answerable, given, held, cited, seconds }) =>
      `| ${id} | ${cell(question)} | ${cell(answer)} | ${answerable ? `${given ? 'given' : 'not given'}, ${held ? 'held' : 'not held'}` : 'no answer exists'} | ${cited ? 'yes' : 'no'} | ${seconds} |`,
  )
  return `# The first hour

\`node bench/first-hour.ts\`, ${options.label}, ${options.embeddings ? 'with' : 'without'} an embedding model, embedded database.

${summary(asked)}

| id | question | answer | fact | cited | s |
| - | - | - | - | - | - |
${rows.join('\n')}
`
}
