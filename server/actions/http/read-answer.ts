import type { FetchedPage } from '../../platform/fetch/read/read-page.ts'
import { storable, unstorable } from '../../platform/http/bodies/storable.ts'
import type { ToolOutput } from '../tools/tool.ts'

const MAX_BYTES = 20_480
const MAX_ERROR_LENGTH = 200

/** Returns a response for the model: JSON as a value, anything else as text, cut at 20 KB and without `secrets`. */
export function readAnswer(
  { status, body, contentType, charset }: FetchedPage,
  secrets: string[],
): ToolOutput {
  const text = withoutSecrets(decode(body, charset), secrets)
  if (status < 200 || status > 299) {
    const said = Array.from(text.trim()).slice(0, MAX_ERROR_LENGTH).join('')
    return { status: 'error', error: `The service answered with status ${status}. ${said}`.trim() }
  }
  if (text === '') return { status: 'success' }
  const bytes = Buffer.from(text)
  if (bytes.length > MAX_BYTES) {
    // In stream mode, a character that is cut in the middle is omitted.
    const kept = new TextDecoder().decode(bytes.subarray(0, MAX_BYTES), { stream: true })
    return { status: 'success', data: kept }
  }
  const isJson = contentType === 'application/json' || contentType?.endsWith('+json')
  const value = isJson || /^\s*[[{]/.test(text) ? parse(text) : undefined
  return { status: 'success', data: value === undefined || unstorable(value) ? text : value }
}

function decode(body: Uint8Array, charset: string | null): string {
  try {
    return storable(new TextDecoder(charset ?? 'utf-8').decode(body))
  } catch {
    return storable(new TextDecoder().decode(body))
  }
}

function withoutSecrets(text: string, secrets: string[]): string {
  const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
  // Longest first, so that no part of a longer one remains.
  return forms
    .sort((a, b) => b.length - a.length)
    .reduce((rest, form) => rest.replaceAll(form, '[removed]'), text)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
