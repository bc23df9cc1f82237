import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { brokenRule } from './provider-rules.ts'
import type { ModelRequest, Reply, RerankReply } from './reply.ts'
import { refusalOf } from './strict-wires.ts'
import { anthropicWire, chatWire, googleWire, responsesWire, type Wire } from './wires.ts'

/** A deterministic fake model server that implements the providers' protocols over HTTP, including faults. */
export type ModelServer = {
  /** The base URL, http://127.0.0.1:PORT. OpenAI's and Anthropic's paths start with /v1, Google's with /v1beta. */
  url: string
  /** The settings of a service that uses this server as its only model, named `fake`. */
  settings: { OPENAI_BASE_URL: string; OPENAI_API_KEY: string; OPENAI_MODEL: string }
  requests: ModelRequest[]
  /** Why the provider's own types do not allow requests that were sent to a strict server. */
  refusals: string[]
  /**
   * The replies to the next requests, in order. Later requests get the reply of `otherwise`, as do requests for
   * titles and the reading of questions.
   */
  queue: Reply[]
  otherwise(reply: (request: ModelRequest) => Reply): void
  /**
   * The replies to the next reranking requests, in order. Later requests get an order by the number of shared words.
   */
  reranks: RerankReply[]
  /**
   * How long the embedding of each text takes, whether the server does one request at a time, how many texts it takes at
   * once, the tokens that it says a text has, and whether it closes connections without an answer.
   */
  embedding: {
    msPerText: number
    isSerial: boolean
    most: number
    tokensPerText: number | null
    isDown: boolean
  }
  close(): Promise<void>
}

const WIRES: [RegExp, ModelRequest['wire'], () => Wire][] = [
  [/^\/v1\/chat\/completions$/, 'chat', chatWire],
  [/^\/v1\/responses$/, 'responses', responsesWire],
  [/^\/v1\/messages$/, 'anthropic', anthropicWire],
  [/^\/v1beta\/models\/[^/]+:streamGenerateContent/, 'google', googleWire],
]

/**
 * A strict server refuses what the types of the provider's own package do not allow, and what breaks the rules in its
 * documentation; with `rules`, only the latter.
 */
export async function startModelServer({
  isStrict = false,
}: {
  isStrict?: boolean | 'rules'
} = {}): Promise<ModelServer> {
  const requests: ModelRequest[] = []
  const refusals: string[] = []
  const queue: Reply[] = []
  const reranks: RerankReply[] = []
  const embedding: ModelServer['embedding'] = {
    msPerText: 0,
    isSerial: false,
    most: 2_048,
    tokensPerText: null,
    isDown: false,
  }
  let embedded: Promise<unknown> = Promise.resolve()
  let otherwise: (request: ModelRequest) => Reply = () => ({ tokens: ['Hello', ' from', ' the', ' model.'] })

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? ''
    const body = JSON.parse((await textOf(request)) || '{}')
    const aborted = new Promise<void>((resolve) => {
      response.on('close', () => {
        if (!response.writableFinished) resolve()
      })
    })
    const note = (wire: ModelRequest['wire']): ModelRequest => {
      const noted = { wire, body, headers: request.headers, aborted }
      requests.push(noted)
      return noted
    }
    const [, wire, make] = WIRES.find(([pattern]) => pattern.test(path)) ?? []
    if (wire && make) {
      const noted = note(wire)
      const unknown = isStrict === true ? refusalOf(noted) : null
      const refusal = unknown ?? (isStrict ? brokenRule(noted) : null)
      if (refusal !== null) {
        refusals.push(refusal)
        response
          .writeHead(400, { 'content-type': 'application/json' })
          .end(JSON.stringify({ error: { message: refusal } }))
        return
      }
      const next = /Write a title|Read the last message that a customer wrote/.test(JSON.stringify(body))
        ? undefined
        : queue.shift()
      await send(response, make(), next ?? otherwise(noted))
    } else if (path === '/v1/embeddings') {
      const noted = note('embeddings')
      const isTold = queue[0]?.status || queue[0]?.firstDelayMs || queue[0]?.after
      const { status, retryAfter, firstDelayMs, after } = isTold ? (queue.shift() ?? {}) : {}
      if (firstDelayMs) await wait(firstDelayMs)
      await after
      const work = (): Promise<void> => wait(embedding.msPerText * body.input.length)
      if (embedding.isSerial) {
        embedded = embedded.then(work)
        await embedded
      } else if (embedding.msPerText) await work()
      if (embedding.isDown) response.destroy()
      else if (body.input.length > embedding.most)
        response
          .writeHead(422, { 'content-type': 'application/json' })
          .end(`{"message":"batch size ${body.input.length} > maximum allowed batch size ${embedding.most}"}`)
      else if (status) {
        const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
        response.writeHead(status, headers).end('{"error":{"message":"told to fail"}}')
      } else
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify(embeddings(noted.body, embedding.tokensPerText)))
    } else if (path === '/v1/rerank') {
      const { body: sent } = note('rerank')
      const { status = 200, firstDelayMs, body: told } = reranks.shift() ?? {}
      if (firstDelayMs) await wait(firstDelayMs, undefined, { ref: false })
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(told ?? JSON.stringify(rerank(sent)))
    } else response.writeHead(404).end('{}')
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    settings: { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'k', OPENAI_MODEL: 'fake' },
    requests,
    refusals,
    queue,
    reranks,
    embedding,
    otherwise: (reply) => {
      otherwise = reply
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

async function send(response: ServerResponse, wire: Wire, reply: Reply): Promise<void> {
  if (reply.firstDelayMs) await wait(reply.firstDelayMs)
  await reply.after
  if (response.destroyed) return
  if (reply.status) {
    const headers = reply.retryAfter === undefined ? {} : { 'retry-after': String(reply.retryAfter) }
    response.writeHead(reply.status, { 'content-type': 'application/json', ...headers })
    const message = reply.errorMessage ?? 'secret words of the provider: sk-123'
    response.end(JSON.stringify({ error: { message, type: 'told_to_fail' } }))
    return
  }
  response.writeHead(200, { 'content-type': reply.contentType ?? 'text/event-stream' })
  response.write(wire.opening().join('') || ': open\n\n')
  if (reply.reasoning) response.write(wire.reasoning(reply.reasoning).join(''))
  for (const [index, token] of (reply.tokens ?? []).entries()) {
    if (index === reply.dropAfter) return void response.destroy()
    if (index === reply.stallAfter) return
    if (index === reply.garbageAfter) return void response.end('data: {"choices": [{]]\n\n')
    if (reply.delayMs) await wait(reply.delayMs)
    await reply.beforeToken?.(index)
    if (response.destroyed) return
    response.write(wire.token(token).join(''))
  }
  const calls = (reply.toolCalls ?? []).flatMap((call, index) => wire.toolCall(call, index))
  const rest = [...calls, ...wire.closing(reply)]
  if (reply.endDelayMs) {
    response.write(rest.slice(0, -1).join(''))
    await wait(reply.endDelayMs)
    response.end(rest.at(-1))
  } else response.end(rest.join(''))
}

const DIMENSIONS = 64

/** Returns deterministic vectors made from hashed words, so that texts that share words are close. */
function embeddings(
  { input, dimensions = DIMENSIONS }: { input: string[]; dimensions?: number },
  tokensPerText: number | null,
) {
  const data = input.map((text, index) => {
    const embedding = new Array<number>(dimensions).fill(0)
    for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
      const place = createHash('sha1').update(word).digest().readUInt32LE() % dimensions
      embedding[place] = (embedding[place] ?? 0) + 1
    }
    return { object: 'embedding', index, embedding }
  })
  // The server may return the vectors in any order; only `index` matters.
  const tokens = tokensPerText === null ? null : tokensPerText * input.length
  const usage = tokens === null ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }
  return { object: 'list', data: data.reverse(), ...usage }
}

/** Returns deterministic scores: the share of the query's words that a document contains. */
function rerank({ query, documents, top_n }: { query: string; documents: string[]; top_n?: number }) {
  const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/\p{L}+/gu))
  const asked = [...wordsOf(query)]
  const results = documents.map((text, index) => {
    const said = wordsOf(text)
    return { index, relevance_score: asked.filter((word) => said.has(word)).length / (asked.length || 1) }
  })
  return { results: results.sort((a, b) => b.relevance_score - a.relevance_score).slice(0, top_n) }
}
