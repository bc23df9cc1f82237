import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { errorBody, type FakeTemplate } from './messaging-wire.ts'

/** The fault that replaces the response to the next request with a matching path. */
export type MessagingFault = { path: RegExp } & (
  | { status: number; code: number; retryAfter?: number }
  /** The socket is destroyed before or after the request is processed. */
  | { cut: 'before' | 'after' }
  | { broken: string }
)

type FakeAccount = {
  token: string
  numbers: { id: string; phone: string; name: string }[]
  templates: FakeTemplate[]
}

type SentMessage = {
  id: string
  number: string
  to: string
  type: string
  callback: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every type
  body: any
}

/** A server that implements the published protocol of the messaging channel, with faults. */
export type MessagingServer = {
  /** The base URL, http://127.0.0.1:PORT. */
  url: string
  accounts: Map<string, FakeAccount>
  /** All messages accepted, in order, whether or not the response was sent. */
  sent: SentMessage[]
  /** The files that people have sent and those that were uploaded, by id. */
  files: Map<string, { type: string; bytes: Buffer }>
  /** Phone numbers for which the channel uses another form than the one dialled. */
  renamed: Map<string, string>
  faults: MessagingFault[]
  /** Whether every request is answered with 503. */
  down: boolean
  requests: string[]
  pageSize: number
  close(): Promise<void>
}

type Answer = { status: number; body: object | Buffer; headers?: Record<string, string> }

type Body = {
  to?: string
  recipient?: string
  recipient_type?: string
  type: string
  template: { name: string; language: { code: string } }
  biz_opaque_callback_data: string
  [part: string]: unknown
}

export async function startMessagingServer(): Promise<MessagingServer> {
  const server = createServer((request, response) => void answer(request, response))
  const fake: MessagingServer = {
    url: '',
    accounts: new Map(),
    sent: [],
    files: new Map(),
    renamed: new Map(),
    faults: [],
    down: false,
    requests: [],
    pageSize: 25,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://localhost')
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    fake.requests.push(`${request.method} ${url.pathname}`)
    const at = fake.faults.findIndex(({ path }) => path.test(url.pathname))
    const [fault] = at < 0 ? [] : fake.faults.splice(at, 1)
    if (fault && 'cut' in fault && fault.cut === 'before') return void request.socket.destroy()
    const found = refusal(fault) ?? find(request, url, Buffer.concat(chunks))
    if (fault && 'cut' in fault) return void request.socket.destroy()
    const isBytes = Buffer.isBuffer(found.body)
    response
      .writeHead(found.status, {
        'content-type': isBytes ? 'application/octet-stream' : 'application/json; charset=UTF-8',
        ...found.headers,
      })
      .end(fault && 'broken' in fault ? fault.broken : isBytes ? found.body : JSON.stringify(found.body))
  }

  function refusal(fault: MessagingFault | undefined): Answer | null {
    if (fake.down) return { status: 503, body: errorBody(131016, 'Service unavailable') }
    if (!fault || !('status' in fault)) return null
    const headers: Record<string, string> =
      fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) }
    return { status: fault.status, body: errorBody(fault.code, 'Told to fail'), headers }
  }

  function find(request: IncomingMessage, url: URL, bytes: Buffer): Answer {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    const tokens = [...fake.accounts.values()].map((account) => account.token)
    if (!tokens.includes(token)) return { status: 401, body: errorBody(190, 'Invalid token') }
    const [, first = '', second = ''] = /^\/(?:v\d+\.0\/)?([^/]+)(?:\/([\w-]+))?$/.exec(url.pathname) ?? []
    const account = fake.accounts.get(first)
    const owner = [...fake.accounts.values()].find(({ numbers }) => numbers.some(({ id }) => id === first))
    const route = `${request.method} ${second}`
    if (account && account.token !== token) return { status: 403, body: errorBody(10, 'No permission') }
    if (account && route === 'GET phone_numbers') return page(url, account.numbers.map(wireOfNumber))
    if (account && route === 'GET message_templates') return page(url, filtered(url, account.templates))
    if (owner && route === 'POST messages') return take(first, owner, JSON.parse(bytes.toString()))
    if (owner && route === 'POST media') {
      const id = `upload-${fake.files.size + 1}`
      fake.files.set(id, { type: String(request.headers['content-type']), bytes })
      return { status: 200, body: { id } }
    }
    const file = fake.files.get(first === 'files' ? second : first)
    if (file && first === 'files') return { status: 200, body: file.bytes }
    if (file && request.method === 'GET') {
      const body = {
        url: `${fake.url}/files/${first}`,
        mime_type: file.type,
        id: first,
        messaging_product: 'whatsapp',
      }
      return { status: 200, body }
    }
    return { status: 400, body: errorBody(100, `Unsupported request for ${first}`) }
  }

  function take(number: string, owner: FakeAccount, body: Body): Answer {
    const { type, template, biz_opaque_callback_data: callback } = body
    // Published: `to` is a number, and `recipient` an id of somebody whose number is not shared.
    const to = body.to ?? body.recipient ?? ''
    const isNumber = body.to !== undefined
    if (
      !(isNumber ? /^\d{5,20}$/ : /^[A-Z]{2}\.[\w.-]+$/).test(to) ||
      (body.recipient_type ?? 'individual') !== 'individual'
    )
      return { status: 400, body: errorBody(100, 'Invalid parameter: recipient') }
    if (type === 'template') {
      const { name, language } = template
      const known = owner.templates.some((one) => one.name === name && one.language === language.code)
      if (!known) return { status: 404, body: errorBody(132001, 'Template name does not exist') }
    }
    const id = `wamid.${randomUUID()}`
    fake.sent.push({ id, number, to, type, callback, body: body[type] })
    const contacts = [
      isNumber ? { input: to, wa_id: fake.renamed.get(to) ?? to } : { input: to, user_id: to },
    ]
    return { status: 200, body: { messaging_product: 'whatsapp', contacts, messages: [{ id }] } }
  }

  function page(url: URL, items: object[]): Answer {
    const start = Number(url.searchParams.get('after')?.replace('at-', '') ?? 0)
    const end = start + Math.min(Number(url.searchParams.get('limit') ?? 25), fake.pageSize)
    const cursors = { before: `at-${start}`, after: `at-${end}` }
    // The URL of the next page points to another server, to which the token must not be sent.
    const next = end < items.length ? { next: `http://127.0.0.1:1/stolen?after=at-${end}` } : {}
    return { status: 200, body: { data: items.slice(start, end), paging: { cursors, ...next } } }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return fake
}

const wireOfNumber = ({ id, phone, name }: FakeAccount['numbers'][number]): object => ({
  id,
  display_phone_number: phone,
  verified_name: name,
  quality_rating: 'GREEN',
})

function filtered(url: URL, templates: FakeTemplate[]): object[] {
  const name = url.searchParams.get('name')
  const status = url.searchParams.get('status')
  // The real server also matches parts of names.
  return templates.filter((one) => one.name.includes(name ?? '') && (status ?? one.status) === one.status)
}
