/** What the fake model server does with one request, whatever the protocol of the request. */
export type Reply = {
  /** The tokens of the answer, in order, each sent separately. */
  tokens?: string[]
  /** What the model thinks before its answer. */
  reasoning?: string
  /** The tokens that were read and written. The default is 7 and 5. */
  usage?: [read: number, written: number]
  /** How many of those that were read came from the cache. */
  cached?: number
  toolCalls?: { id: string; name: string; input: unknown }[]
  /** The finish reason as the protocol spells it. The default is `stop` or `tool_calls`. */
  finishReason?: string
  /** The status of an error response that is sent instead. */
  status?: number
  retryAfter?: number
  errorMessage?: string
  /** Milliseconds before the first token and between tokens. */
  firstDelayMs?: number
  delayMs?: number
  /** Returns a promise that is awaited before the token with this index is sent. */
  beforeToken?: (index: number) => Promise<unknown>
  /** The response waits for this promise. With NEVER, the request is held until the client gives up. */
  after?: Promise<unknown>
  /** The delay between the tool calls and the end of the stream, in milliseconds. */
  endDelayMs?: number
  /**
   * The number of tokens after which the socket is destroyed (`dropAfter`), nothing more is sent (`stallAfter`), or
   * bytes that are not events are sent (`garbageAfter`).
   */
  dropAfter?: number
  stallAfter?: number
  garbageAfter?: number
  /** Ends the stream properly but without a finish reason. */
  withoutFinish?: boolean
  contentType?: string
}

export const NEVER = new Promise<never>(() => {})

/** The reply to a reranking request. `body` is sent as it is. */
export type RerankReply = { status?: number; firstDelayMs?: number; body?: string }

export type ModelRequest = {
  wire: 'chat' | 'responses' | 'anthropic' | 'google' | 'embeddings' | 'rerank'
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every protocol
  body: any
  headers: Record<string, string | string[] | undefined>
  /** Resolves when the caller closes the connection before the answer has ended. */
  aborted: Promise<void>
}

/** Returns `n` distinct tokens. */
export const tokens = (n: number): string[] => Array.from({ length: n }, (_, i) => `token${i} `)
