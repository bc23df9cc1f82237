import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { prepare, start, stop } from '../bench/service.ts'
import { createMember } from '../server/accounts/records/members.ts'
import { startModelServer } from '../test/fakes/model-server.ts'

/**
 * `node scripts/trace-request.ts [--files] [--write]` counts the files of server/ that run for one request of each kind, with
 * V8's precise coverage of a running service on the embedded database. Each request is sent once before it is
 * measured, and functions that also run in an idle service do not count. Child processes and threads are left out.
 * `--files` lists the files as well; `--write` puts the table into docs/architecture.md.
 */

const { values: options } = parseArgs({
  options: { files: { type: 'boolean', default: false }, write: { type: 'boolean', default: false } },
})

const SERVER = join(import.meta.dirname, '../server/')
/** An idle service does what it does now and then: beats, recurring jobs, looks for jobs. */
const IDLE_MS = 6_000
/** What runs each time belongs to the request. The rest is work of the service that met it by chance. */
const MEASURED = 3
/** What a response leaves behind, such as its end in the database. */
const SETTLE_MS = 100

type Coverage = {
  result: {
    url: string
    functions: { functionName: string; ranges: { startOffset: number; count: number }[] }[]
  }[]
}
type Calls = Map<string, { file: string; count: number }>
type Request = { name: string; send(): Promise<void> }

const DOCUMENT = `# Returns\n\nGoods can be returned within 30 days.\n\n# Delivery\n\nDelivery takes two days.\n`
const models = await startModelServer()
const prepared = await prepare(null, 1, async (db, { accountId }) => {
  const account = { id: accountId, plan: 'unlimited' }
  await createMember(db, account, { email: 'ann@example.com', name: 'Ann' })
})
const headers = { authorization: `Bearer ${prepared.keys[0]}` }
const agent = `/api/v2/agents/${prepared.agentId}`

const table: string[] = []
addRow('| one request | files | folders | rooms | functions | calls |')
addRow('| - | - | - | - | - | - |')
await traced(models.settings, async (url) => [
  {
    name: '`GET` list of sources',
    send: async () => void (await call(url, 'GET', `${agent}/sources`)),
  },
  await helpdeskReply(url),
  { name: 'uploaded .md until it is live', send: () => upload(url) },
  await widgetMessage(url),
  { name: 'chat, answered by a model', send: () => chat(url) },
])
await traced({}, async (url) => [{ name: 'chat, without a model', send: () => chat(url) }])
await models.close()
await prepared.remove()
if (options.write) writeTable()

/** Starts a service and measures the requests one after the other. */
async function traced(
  settings: Record<string, string>,
  requests: (url: string) => Promise<Request[]>,
): Promise<void> {
  const port = await freePort()
  const { url, child } = await start([`--inspect=127.0.0.1:${port}`, 'server/main.ts'], {
    ...prepared.env,
    ...settings,
  })
  try {
    const inspector = await attach(port)
    await inspector.send('Profiler.enable')
    await inspector.send('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    /** Returns the calls since the last time, and counts anew. */
    const taken = async (): Promise<Calls> => callsOf(await inspector.send('Profiler.takePreciseCoverage'))
    const list = await requests(url)
    await wait(IDLE_MS)
    await taken()
    await wait(IDLE_MS)
    const idle = await taken()
    for (const { name, send } of list) {
      await send()
      await wait(IDLE_MS / 3)
      const measured: Calls[] = []
      for (let i = 0; i < MEASURED; i++) {
        await taken()
        await send()
        await wait(SETTLE_MS)
        measured.push(await taken())
      }
      report(name, inAll(measured), idle)
    }
    inspector.close()
  } finally {
    await stop(child)
  }
}

function callsOf({ result }: Coverage): Calls {
  const calls: Calls = new Map()
  for (const { url, functions } of result) {
    if (!url.startsWith(`file://${SERVER}`)) continue
    const file = url.slice(`file://${SERVER}`.length)
    for (const { functionName, ranges } of functions) {
      const [range] = ranges
      if (range && range.count > 0)
        calls.set(`${file} ${functionName} ${range.startOffset}`, { file, count: range.count })
    }
  }
  return calls
}

function inAll([first = new Map(), ...others]: Calls[]): Calls {
  return new Map([...first].filter(([key]) => others.every((calls) => calls.has(key))))
}

function report(name: string, calls: Calls, idle: Calls): void {
  const own = [...calls].filter(([key]) => !idle.has(key)).map(([, call]) => call)
  const files = [...new Set(own.map(({ file }) => file))].sort()
  const folders = new Set(files.map((file) => file.split('/').slice(0, -1).join('/')))
  const rooms = new Set(files.filter((file) => file.includes('/')).map((file) => file.split('/')[0]))
  const count = own.reduce((sum, call) => sum + call.count, 0)
  addRow(`| ${[name, files.length, folders.size, rooms.size, own.length, count].join(' | ')} |`)
  if (options.files) for (const file of files) console.log(`    ${file}`)
}

function addRow(row: string): void {
  table.push(row)
  console.log(row)
}

/** Replaces what is between the marks in docs/architecture.md. */
function writeTable(): void {
  const page = join(import.meta.dirname, '../docs/architecture.md')
  const [before, after] = ['<!-- trace -->', '<!-- /trace -->']
  const text = readFileSync(page, 'utf8')
  const start = text.indexOf(before) + before.length
  if (start < before.length) throw new Error(`docs/architecture.md has no mark ${before}`)
  writeFileSync(page, `${text.slice(0, start)}\n${table.join('\n')}\n${text.slice(text.indexOf(after))}`)
}

async function call(url: string, method: string, path: string, body?: object | FormData): Promise<Response> {
  const isForm = body instanceof FormData
  const response = await fetch(`${url}${path}`, {
    method,
    headers: body && !isForm ? { ...headers, 'content-type': 'application/json' } : headers,
    ...(body ? { body: isForm ? body : JSON.stringify(body) } : {}),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response
}

async function json(response: Promise<Response>): Promise<Record<string, string>> {
  return (await (await response).json()) as Record<string, string>
}

async function chat(url: string): Promise<void> {
  const response = await call(url, 'POST', `${agent}/chat`, { message: 'How long can goods be returned?' })
  await response.text()
}

async function upload(url: string): Promise<void> {
  const form = new FormData()
  form.set('type', 'file')
  form.set('name', 'returns.md')
  form.set('file', new Blob([`${DOCUMENT}${randomUUID()}\n`], { type: 'text/markdown' }), 'returns.md')
  const { id } = await json(call(url, 'POST', `${agent}/sources`, form))
  for (;;) {
    // The sources are listed in the warm-up, so that waiting adds few functions.
    const { status } = await json(call(url, 'GET', `${agent}/sources/${id}`))
    if (status === 'trained') return
    if (status === 'failed') throw new Error('The document could not be trained.')
    await wait(200)
  }
}

async function helpdeskReply(url: string): Promise<Request> {
  const ticket = await json(
    call(url, 'POST', `${agent}/helpdesk/tickets`, {
      subject: 'Late',
      description: 'Where is it?',
      customer: { email: 'eve@example.org' },
    }),
  )
  return {
    name: 'helpdesk reply',
    send: async () => {
      const reply = { type: 'reply', content: 'It comes tomorrow.', authorEmail: 'ann@example.com' }
      await call(url, 'POST', `${agent}/helpdesk/tickets/${ticket.ticketNumber}/messages`, reply)
    },
  }
}

async function widgetMessage(url: string): Promise<Request> {
  const { id } = await json(call(url, 'POST', '/api/v2/agents', { name: 'Shop', visibility: 'public' }))
  return {
    name: 'widget message, answered by a model',
    send: async () => {
      const visitor = { authorization: `Bearer ${randomBytes(32).toString('base64url')}` }
      const base = `${url}/api/widget/agents/${id}`
      const response = await fetch(`${base}/messages`, {
        method: 'POST',
        headers: { ...visitor, 'content-type': 'application/json' },
        body: JSON.stringify({ messageId: randomUUID(), message: 'How long can goods be returned?' }),
      })
      const { data } = (await response.json()) as { data: { conversationId: string } }
      const stream = await fetch(`${base}/conversations/${data.conversationId}/stream`, { headers: visitor })
      await stream.text()
    },
  }
}

/** Connects to the inspector of a process. */
async function attach(port: number) {
  const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
    webSocketDebuggerUrl: string
  }[]
  if (!target) throw new Error('The service has no inspector.')
  const socket = new WebSocket(target.webSocketDebuggerUrl)
  await new Promise((opened, failed) => {
    socket.addEventListener('open', opened)
    socket.addEventListener('error', failed)
  })
  const waiting = new Map<number, (result: Coverage) => void>()
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id: number; result: Coverage }
    waiting.get(id)?.(result)
    waiting.delete(id)
  })
  let last = 0
  return {
    send: (method: string, params: object = {}): Promise<Coverage> =>
      new Promise((answered) => {
        waiting.set(++last, answered)
        socket.send(JSON.stringify({ id: last, method, params }))
      }),
    close: () => socket.close(),
  }
}

function freePort(): Promise<number> {
  return new Promise((found) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => found(address && typeof address === 'object' ? address.port : 0))
    })
  })
}
