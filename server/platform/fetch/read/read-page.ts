import { MIMEType } from 'node:util'
import type { Dispatcher } from 'undici'
import { FetchFailure } from '../failures/fetch-failure.ts'
import type { Hop } from '../guard/next-hop.ts'
import { readBody, tooLarge } from './read-body.ts'

export type FetchOptions = {
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array | undefined
  /** The limit of the decompressed body in bytes. */
  maxBytes: number
  /** The total time for name resolution, connections, redirects and the body. */
  timeoutMs: number
  /** The longest time without data from the server. By default, only timeoutMs applies. */
  idleTimeoutMs?: number
  maxRedirects?: number | undefined
  /**
   * The accepted media types. A 2xx response that declares another one fails with `wrong_type`, without its body
   * being read.
   */
  accept?: readonly string[]
  signal?: AbortSignal
}

export type FetchedPage = {
  /** The URL after the last redirect, without a fragment. */
  url: string
  status: number
  /** The names are in lower case; repeated headers are joined by a comma. */
  headers: Record<string, string>
  /** The media type in lower case, without parameters. */
  contentType: string | null
  charset: string | null
  body: Uint8Array
  /** The URLs that redirected, in order. */
  redirects: string[]
}

/** Converts the last response to a FetchedPage and releases its connection. */
export async function readPage(
  answer: Dispatcher.ResponseData,
  hop: Hop,
  redirects: string[],
  options: FetchOptions,
): Promise<FetchedPage> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined) headers[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }
  const { url } = hop
  const mime = parseMediaType(headers['content-type'])
  try {
    const isSuccess = answer.statusCode >= 200 && answer.statusCode < 300
    if (isSuccess && mime && options.accept && !options.accept.includes(mime.essence))
      throw new FetchFailure(
        'wrong_type',
        `${url.host} answered with ${mime.essence}, which is not what was asked for.`,
      )
    const announced = hop.method === 'HEAD' ? 0 : Number(headers['content-length'] ?? 0)
    if (announced > options.maxBytes && !headers['content-encoding']) throw tooLarge(options.maxBytes)
    const body = await readBody(answer.body, headers['content-encoding'], options.maxBytes)
    const charset = mime?.params.get('charset')?.toLowerCase() ?? null
    const { statusCode: status } = answer
    return { url: url.href, status, headers, contentType: mime?.essence ?? null, charset, body, redirects }
  } finally {
    answer.body.on('error', () => {}).destroy()
  }
}

function parseMediaType(header: string | undefined): MIMEType | null {
  if (!header) return null
  try {
    return new MIMEType(header)
  } catch {
    return null
  }
}
