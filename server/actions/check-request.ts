import type { Static } from 'typebox'
import type { HttpRequest } from '../db/tables.ts'
import { ownHeaders } from '../fetch/guarded-fetcher.ts'
import type { Details } from '../http/validate.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { DEFAULT_TIMEOUT_MS, type UpdateAction } from './action-schema.ts'
import { refuseBody } from './body-template.ts'
import { contentTypeOf, isHeaderValue } from './headers.ts'
import { inputNames, refuseSlots } from './template.ts'
import { originOf, refuseUrl } from './url-template.ts'

type Change = NonNullable<Static<typeof UpdateAction>['http']>
/** `kept`: the encrypted text that was stored before. */
type Header = { name: string; value: string; kept: string | null }

const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]{1,100}$/

/**
 * The request of an http action after a change, with encrypted headers; `stored` is null for a new one. Notes in
 * `details` what is wrong with it.
 */
export function applyRequest(
  secrets: Secrets,
  stored: HttpRequest | null,
  change: Change,
  inputs: Record<string, unknown>,
  details: Details,
): HttpRequest {
  const note = (path: string, sentence: string | null): void => {
    if (sentence !== null) details[`http.${path}`] ??= sentence
  }
  const method = change.method ?? stored?.method ?? 'GET'
  const url = change.url ?? stored?.url ?? ''
  const body = change.body === undefined ? (stored?.body ?? null) : change.body
  const timeoutMs = change.timeoutMs ?? stored?.timeoutMs ?? DEFAULT_TIMEOUT_MS
  const headers = headersOf(secrets, stored, change.headers, note)
  const names = inputNames(inputs)

  const badUrl = refuseUrl(url)
  note('url', badUrl ?? refuseSlots(url, names))
  if (stored && !badUrl && originOf(url) !== originOf(stored.url)) {
    // Otherwise a stored value could be read back by sending it somewhere else.
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
  const encrypted = headers.map(({ name, value, kept }) => [name, kept ?? secrets.encrypt(value)] as const)
  return { method, url, headers: Object.fromEntries(encrypted), body, timeoutMs }
}

function headersOf(
  secrets: Secrets,
  stored: HttpRequest | null,
  sent: Change['headers'],
  note: (path: string, sentence: string) => void,
): Header[] {
  const kept = Object.entries(stored?.headers ?? {}).map(([name, text]) => ({
    name,
    value: secrets.decrypt(text),
    kept: text,
  }))
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
  if (ownHeaders.test(name.toLowerCase())) return 'This header is set by the connection and cannot be given.'
  if (all.filter((other) => other.name.toLowerCase() === name.toLowerCase()).length > 1) {
    return 'Is given more than once.'
  }
  if (!isHeaderValue(value)) return 'Holds characters that cannot be sent in a header.'
  return refuseSlots(value, inputs)
}
