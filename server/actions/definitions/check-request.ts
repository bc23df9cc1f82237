import type { Static } from 'typebox'
import type { Trx } from '../../platform/db/database.ts'
import type { HttpRequest } from '../../platform/db/tables/actions.ts'
import { ownHeaders } from '../../platform/fetch/guard/guarded-fetcher.ts'
import type { Details } from '../../platform/http/input/validate.ts'
import { placeOfHeader } from '../../platform/secrets/sealed-columns.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import { refuseBody } from '../http/body-template.ts'
import { contentTypeOf, isHeaderValue } from '../http/headers.ts'
import { inputNames, refuseSlots } from '../http/template.ts'
import { originOf, refuseUrl } from '../http/url-template.ts'
import type { ActionRow } from './action-queries.ts'
import { DEFAULT_TIMEOUT_MS, type UpdateAction } from './action-schema.ts'

type Change = NonNullable<Static<typeof UpdateAction>['http']>
/** `kept` is the encrypted text that was stored before. */
export type Header = { name: string; value: string; kept: string | null }
/** A request whose header values are not encrypted yet. */
export type PlainRequest = Omit<HttpRequest, 'headers'> & { headers: Header[] }

const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]{1,100}$/

/** Returns the decrypted headers of a stored action; none for a new one. */
export async function openHeaders(
  secrets: Pick<Secrets, 'decrypt'>,
  stored: Pick<ActionRow, 'id' | 'http'> | null,
  within?: Trx,
): Promise<Header[]> {
  const headers = Object.entries(stored?.http?.headers ?? {})
  return Promise.all(
    headers.map(async ([name, text]) => {
      const value = await secrets.decrypt(text, placeOfHeader(stored?.id ?? '', name), within)
      return { name, value, kept: text }
    }),
  )
}

/** Encrypts the headers for their column in the row of the action, which `trx` writes. */
export async function sealRequest(
  secrets: Secrets,
  trx: Trx,
  actionId: string,
  { headers, ...request }: PlainRequest,
): Promise<HttpRequest> {
  const sealed: [name: string, text: string][] = []
  for (const { name, value, kept } of headers)
    sealed.push([name, kept ?? (await secrets.encrypt(trx, value, placeOfHeader(actionId, name)))])
  return { ...request, headers: Object.fromEntries(sealed) }
}

/**
 * Returns the request of an http action after a change. `stored` is null for a new one, and `known` are its decrypted
 * headers. Adds the problems to `details`.
 */
export function applyRequest(
  stored: HttpRequest | null,
  known: Header[],
  change: Change,
  inputs: Record<string, unknown>,
  details: Details,
): PlainRequest {
  const note = (path: string, sentence: string | null): void => {
    if (sentence !== null) details[`http.${path}`] ??= sentence
  }
  const method = change.method ?? stored?.method ?? 'GET'
  const url = change.url ?? stored?.url ?? ''
  const body = change.body === undefined ? (stored?.body ?? null) : change.body
  const timeoutMs = change.timeoutMs ?? stored?.timeoutMs ?? DEFAULT_TIMEOUT_MS
  const headers = headersOf(known, change.headers, note)
  const names = inputNames(inputs)

  const badUrl = refuseUrl(url)
  note('url', badUrl ?? refuseSlots(url, names))
  if (stored && !badUrl && originOf(url) !== originOf(stored.url)) {
    // Otherwise a stored value could be read by sending it to another host.
    for (const { name, kept } of headers) {
      if (kept) note(`headers.${name}`, 'The action now calls another host: send this value again.')
    }
  }
  for (const { name, value } of headers) note(`headers.${name}`, refuseHeader(name, value, names, headers))
  if (body !== null) {
    const contentType = contentTypeOf(headers.map((header) => [header.name, header.value]))
    note('body', method === 'GET' ? 'A GET request has no body.' : refuseSlots(body, names))
    note('body', refuseBody(body, contentType))
  }
  return { method, url, headers, body, timeoutMs }
}

function headersOf(
  kept: Header[],
  sent: Change['headers'],
  note: (path: string, sentence: string) => void,
): Header[] {
  if (sent === undefined) return kept
  return Object.entries(sent).flatMap(([name, value]): Header[] => {
    if (value !== null) return [{ name, value, kept: null }]
    const before = kept.find((header) => header.name.toLowerCase() === name.toLowerCase())
    if (!before) note(`headers.${name}`, 'No value is stored for this header: send one.')
    return before ? [{ ...before, name }] : []
  })
}

function refuseHeader(name: string, value: string, inputs: Set<string>, all: Header[]): string | null {
  if (!HEADER_NAME.test(name)) return 'Is not the name of a header.'
  if (ownHeaders.test(name.toLowerCase())) return 'This header is set by the connection and cannot be sent.'
  if (all.filter((other) => other.name.toLowerCase() === name.toLowerCase()).length > 1) {
    return 'Is given more than once.'
  }
  if (!isHeaderValue(value)) return 'Contains characters that cannot be sent in a header.'
  return refuseSlots(value, inputs)
}
