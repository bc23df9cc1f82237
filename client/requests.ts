import { errorOf } from './parley-error.ts'
import { parseEvents } from './parse-events.ts'
import { attempt, createTries, type Patience, usualPatience } from './patience.ts'

export type RequestsOptions = {
  /** The base URL of version 2 of the API. */
  baseUrl: string
  headers?: Record<string, string> | undefined
  fetch?: typeof globalThis.fetch | undefined
  patience?: Partial<Patience> | undefined
}

export type RequestInput = {
  /** The values of the {parameters} in the path. */
  params?: Record<string, unknown> | undefined
  query?: Record<string, unknown> | undefined
  body?: unknown
  /** Further headers, such as Idempotency-Key and If-Match. */
  headers?: Record<string, string> | undefined
  signal?: AbortSignal | undefined
  /** Called with the headers of the response, such as ETag. */
  onHeaders?: ((headers: Headers) => void) | undefined
}

/**
 * Calls any endpoint by its method and path. All methods throw ParleyError, or another error when the service cannot be
 * reached or does not respond.
 */
export type Requests = {
  request<T>(method: string, path: string, input?: RequestInput): Promise<T>
  /** Yields the lines of a response that holds one JSON value on each (application/x-ndjson). */
  lines(method: string, path: string, input?: RequestInput): AsyncGenerator<unknown, void>
  /**
   * Yields the data of the events of an endless stream, which is reopened whenever it breaks, until `signal` aborts or
   * the service refuses it.
   */
  follow(path: string, input: RequestInput): AsyncGenerator<unknown, void>
}

export function createRequests(options: RequestsOptions): Requests {
  const patience = { ...usualPatience, ...options.patience }
  const base = options.baseUrl.replace(/\/+$/, '')

  async function send(
    method: string,
    path: string,
    input: RequestInput,
    own: Record<string, string>,
  ): Promise<Response> {
    const headers: Record<string, string> = { ...options.headers, ...input.headers, ...own }
    const body = input.body === undefined ? undefined : JSON.stringify(input.body)
    if (body !== undefined) headers['content-type'] = 'application/json'
    const response = await (options.fetch ?? globalThis.fetch)(`${base}${pathOf(path, input)}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      ...(input.signal === undefined ? {} : { signal: input.signal }),
    })
    if (!response.ok) throw await errorOf(response)
    input.onHeaders?.(response.headers)
    return response
  }

  return {
    request<T>(method: string, path: string, input: RequestInput = {}) {
      const ask = async (signal: AbortSignal | undefined): Promise<T> => {
        const response = await send(method, path, { ...input, signal }, { accept: 'application/json' })
        return (response.status === 204 ? undefined : await response.json()) as T
      }
      // Only reading is known to be quick: the test of a connection, for example, takes as long as the other side.
      return method === 'GET' ? attempt(ask, patience, input.signal) : ask(input.signal)
    },
    async *lines(method, path, input = {}) {
      const { body } = await send(method, path, input, { accept: 'application/x-ndjson' })
      if (!body) return
      let rest = ''
      const decoder = new TextDecoder()
      const reader = body.getReader()
      for (;;) {
        const { done, value } = await reader.read()
        rest += decoder.decode(value, { stream: !done })
        const whole = rest.split('\n')
        rest = whole.pop() ?? ''
        for (const line of whole) if (line !== '') yield JSON.parse(line)
        if (done) break
      }
      if (rest !== '') yield JSON.parse(rest)
    },
    async *follow(path, input) {
      const { signal } = input
      const tries = createTries(patience, Number.POSITIVE_INFINITY)
      let lastId: string | undefined
      while (!signal?.aborted) {
        let broken: unknown = new TypeError('The stream ended.')
        try {
          const accept = { accept: 'text/event-stream' }
          const headers = lastId === undefined ? accept : { ...accept, 'last-event-id': lastId }
          const open = (one: AbortSignal) => send('GET', path, { ...input, signal: one }, headers)
          const { body } = await attempt(open, patience, signal)
          if (!body) throw broken
          for await (const { id, data } of parseEvents(body, { ...patience, signal })) {
            tries.progress()
            lastId = id ?? lastId
            yield JSON.parse(data)
          }
        } catch (error) {
          broken = error
        }
        try {
          if (!signal?.aborted) await tries.pause(broken, signal)
        } catch (error) {
          // A refusal would be repeated for ever, without a pause.
          if (!signal?.aborted) throw error
        }
      }
    },
  }
}

/** Returns the path with its {parameters} filled in and the query appended. */
export function pathOf(path: string, { params = {}, query = {} }: RequestInput): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value))
  }
  return search.size > 0 ? `${filled}?${search}` : filled
}
