import { createHash, randomUUID } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { Agent, request } from 'undici'

/**
 * The minimum that a service on Node has to do for a turn, for comparison: it checks the key, stores the question
 * and the answer in two transactions when there is a database, and forwards the model's tokens as events, one write
 * for each read. `node bench/floor.ts MODEL_URL [DATABASE_URL]` prints its URL.
 */
const [model, databaseUrl] = process.argv.slice(2)
const known = createHash('sha256').update('floor').digest('hex')
const dispatcher = new Agent({ connections: 256 })
const pool = databaseUrl ? new pg.Pool({ connectionString: databaseUrl, max: 10 }) : null
await pool?.query(
  `create table turns (id uuid primary key, state text not null);
   create table said (id uuid primary key, turn uuid not null references turns, role text not null, parts jsonb not null)`,
)

const question = { name: 'question', text: `insert into said values ($1, $2, 'user', $3)` }
const begun = { name: 'begun', text: `insert into turns values ($1, 'running')` }
const answer = { name: 'answer', text: `insert into said values ($1, $2, 'assistant', $3)` }
const ended = {
  name: 'ended',
  text: `update turns set state = 'finished' where id = $1 and state = 'running'`,
}

type Statement = { name: string; text: string; values: unknown[] }

async function transaction(...statements: Statement[]): Promise<void> {
  if (!pool) return
  const client = await pool.connect()
  await client.query('begin')
  for (const statement of statements) await client.query(statement)
  await client.query('commit')
  client.release()
}

const partsOf = (text: string): string => JSON.stringify([{ type: 'text', text }])

async function turn(message: string, response: ServerResponse): Promise<void> {
  const id = randomUUID()
  await transaction({ ...begun, values: [id] }, { ...question, values: [randomUUID(), id, partsOf(message)] })
  const { body } = await request(`${model}/v1/chat/completions`, {
    method: 'POST',
    dispatcher,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'bench', stream: true, messages: [{ role: 'user', content: message }] }),
  })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  let events = 0
  const event = (data: { type: string }): string =>
    `id: ${++events}\nevent: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
  response.write(event({ type: 'start' }))
  const decoder = new TextDecoder()
  let rest = ''
  let text = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    let out = ''
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue
      const delta = JSON.parse(line.slice('data: '.length)).choices[0]?.delta?.content
      if (!delta) continue
      text += delta
      out += event({ type: 'text-delta', delta } as { type: string })
    }
    if (out) response.write(out)
  }
  await transaction({ ...answer, values: [randomUUID(), id, partsOf(text)] }, { ...ended, values: [id] })
  response.end(`${event({ type: 'finish' })}data: [DONE]\n\n`)
}

const server = createServer((incoming, response) => {
  let body = ''
  incoming.setEncoding('utf8').on('data', (text: string) => {
    body += text
  })
  incoming.on('end', () => {
    const key = incoming.headers.authorization?.slice('Bearer '.length) ?? ''
    if (createHash('sha256').update(key).digest('hex') !== known) response.writeHead(401).end()
    else turn(JSON.parse(body).message, response).catch(() => response.destroy())
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
