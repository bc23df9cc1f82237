import { MIMEType } from 'node:util'
import type { Dispatcher } from 'undici'
import { FetchFailure } from '../failures/fetch-failure.ts'
import type { Hop } from '../guard/next-hop.ts'
import { readBody, tooLarge } from './read-body.ts'

export type FetchOptions = {
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** Bytes of the unpacked body. */
  maxBytes: number
  /** For everything together: names, connections, redirects, body. */
  timeoutMs: number
  /** Longest silence of the server. Default: none but timeoutMs. */
  idleTimeoutMs?: number
  maxRedirects?: number
  /** Media types wanted; a 2xx answer that declares another one fails with `wrong_type`, its body unread. */
  accept?: readonly string[]
  signal?: AbortSignal
}

export type FetchedPage = {
  /** Where the last redirect ended, without a fragment. */
  url: string
  status: number
  /** Lower-case names; repeated headers joined by a comma. */
  headers: Record<string, string>
  /** Media type in lower case, without parameters. */
  contentType: string | null
  charset: string | null
  body: Uint8Array
  /** The URLs that redirected, first one first. */
  redirects: string[]
}

/** Turns the last answer into a FetchedPage and lets go of its connection. */
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
