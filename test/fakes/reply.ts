/** What the fake model server does with one request; independent of the wire it came on. */
export type Reply = {
  /** Spoken in this order, one token each. */
  tokens?: string[]
  toolCalls?: { id: string; name: string; input: unknown }[]
  /** As the wire spells it; default: stop or tool_calls. */
  finishReason?: string
  /** Answers with this status instead. */
  status?: number
  retryAfter?: number
  errorMessage?: string
  /** Milliseconds before the first token and between tokens. */
  firstDelayMs?: number
  delayMs?: number
  /** Each token waits for what this gives for its index. */
  beforeToken?: (index: number) => Promise<unknown>
  /** Nothing is answered before this has come about; NEVER: the request is held until somebody gives it up. */
  after?: Promise<unknown>
  /** Milliseconds between the calls and the end of the stream. */
  endDelayMs?: number
  /** After so many tokens: the socket is cut, nothing more comes, or bytes that are no events come. */
  dropAfter?: number
  stallAfter?: number
  garbageAfter?: number
  /** Ends the stream properly but without saying why. */
  withoutFinish?: boolean
  contentType?: string
}

export const NEVER = new Promise<never>(() => {})

/** What a reranking request gets instead of an order; `body` as it is sent. */
export type RerankReply = { status?: number; firstDelayMs?: number; body?: string }

export type ModelRequest = {
  wire: 'chat' | 'responses' | 'anthropic' | 'google' | 'embeddings' | 'rerank'
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every wire
  body: any
  headers: Record<string, string | string[] | undefined>
  /** Resolves when the caller closes the connection before the answer has ended. */
  aborted: Promise<void>
}

/** `n` tokens that can be told apart. */
export const tokens = (n: number): string[] => Array.from({ length: n }, (_, i) => `token${i} `)
