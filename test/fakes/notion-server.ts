import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { type FakeBlock, type FakePage, wireOfBlock, wireOfPage } from './notion-wire.ts'

/** The fault that replaces the response to a request. */
export type Fault =
  | { status: number; code: string; retryAfter?: string }
  | { broken: string }
  | { delayMs: number }

/** A server that implements Notion's public API: version header, cursors and error bodies. */
export type NotionServer = {
  /** The base URL, http://127.0.0.1:PORT. */
  url: string
  /** The tokens that are accepted. */
  tokens: Set<string>
  /** The shared pages, by id. */
  pages: Map<string, FakePage>
  /** The databases and their rows, by the database's id. */
  databases: Map<string, { title: string; rows: FakePage[] }>
  /** The faults for the next requests, in order. */
  faults: Fault[]
  requests: { method: string; path: string; headers: IncomingMessage['headers'] }[]
  /** The maximum number of items in a response, whatever the request asks for. */
  pageSize: number
  close(): Promise<void>
}

type Answer = { status: number; body: object; headers?: Record<string, string> }

export async function startNotionServer(): Promise<NotionServer> {
  const server = createServer((request, response) => void answer(request, response))
  const fake: NotionServer = {
    url: '',
    tokens: new Set(['secret-token']),
    pages: new Map(),
    databases: new Map(),
    faults: [],
    requests: [],
    pageSize: 100,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    const { method = '', headers } = request
    fake.requests.push({ method, path: pathname, headers })
    let text = ''
    for await (const piece of request) text += piece
    const asked = { ...Object.fromEntries(searchParams), ...(text ? JSON.parse(text) : {}) }
    const fault = fake.faults.shift()
    if (fault && 'broken' in fault) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(fault.broken)
      return
    }
    if (fault && 'delayMs' in fault) await wait(fault.delayMs)
    const {
      status,
      body,
      headers: more,
    } = fault && 'status' in fault ? faulty(fault) : find(method, pathname, headers, asked)
    response
      .writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...more })
      .end(JSON.stringify(body))
  }

  function find(method: string, path: string, headers: IncomingMessage['headers'], asked: Asked): Answer {
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
    if (!fake.tokens.has(token)) return failure(401, 'unauthorized', 'API token is invalid.')
    if (headers['notion-version'] !== '2022-06-28')
      return failure(400, 'missing_version', 'No known version.')
    const [, kind, id = '', rest] = /^\/v1\/(\w+)(?:\/([\w-]+))?(?:\/(\w+))?$/.exec(path) ?? []
    const route = [method, kind, ...(rest ? [rest] : [])].join(' ')
    const page = fake.pages.get(id)
    const database = fake.databases.get(id)
    if (route === 'POST search') {
      const shared = [...fake.pages.values()].sort((a, b) => b.edited.localeCompare(a.edited))
      const query = (asked.query ?? '').toLowerCase()
      return list(shared.filter(({ title }) => title.toLowerCase().includes(query)).map(wireOfPage), asked)
    }
    if (route === 'GET pages' && page) return { status: 200, body: wireOfPage(page) }
    if (route === 'GET pages' && database)
      return failure(400, 'validation_error', `${id} is a database, not a page.`)
    if (route === 'GET databases' && database) return { status: 200, body: databaseBody(id, database.title) }
    if (route === 'POST databases query' && database) return list(database.rows.map(wireOfPage), asked)
    if (route === 'GET blocks children') {
      const blocks =
        page?.blocks ??
        childrenOf(
          [...fake.pages.values()].flatMap(({ blocks }) => blocks),
          id,
        )
      if (blocks) return list(blocks.map(wireOfBlock), asked)
    }
    return failure(404, 'object_not_found', `Could not find ${kind} with ID: ${id}.`)
  }

  type Asked = { start_cursor?: string; page_size?: string | number; query?: string }

  function list(items: object[], { start_cursor, page_size = 100 }: Asked): Answer {
    const start = start_cursor === undefined ? 0 : Number(start_cursor.split('-').at(-1))
    if (!Number.isInteger(start)) return failure(400, 'validation_error', 'start_cursor is not valid.')
    const end = start + Math.min(Number(page_size), fake.pageSize)
    const has_more = end < items.length
    const next_cursor = has_more ? `cursor-${end}` : null
    return { status: 200, body: { object: 'list', results: items.slice(start, end), next_cursor, has_more } }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return fake
}

const failure = (
  status: number,
  code: string,
  message: string,
  headers?: Record<string, string>,
): Answer => ({
  status,
  body: { object: 'error', status, code, message, request_id: randomUUID() },
  ...(headers ? { headers } : {}),
})

const faulty = ({ status, code, retryAfter }: Extract<Fault, { status: number }>): Answer =>
  failure(status, code, 'Told to fail.', retryAfter === undefined ? undefined : { 'retry-after': retryAfter })

const databaseBody = (id: string, title: string): object => ({
  object: 'database',
  id,
  last_edited_time: '2026-01-05T10:00:00.000Z',
  title: [{ type: 'text', plain_text: title }],
  url: `https://workspace.example/${id.replaceAll('-', '')}`,
})

function childrenOf(blocks: FakeBlock[], id: string): FakeBlock[] | null {
  for (const block of blocks) {
    if (block.id === id) return block.children ?? []
    const found = childrenOf(block.children ?? [], id)
    if (found) return found
  }
  return null
}
