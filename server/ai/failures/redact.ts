import { recordOf } from '../../platform/unknown-values.ts'

const MAX_CAUSE_LENGTH = 2_000
/** The number of characters that are examined, because a provider may answer with megabytes. */
const MAX_READ = 50_000

/** Matches keys in the formats of known providers, anything after "Bearer", and passwords in URLs. */
const KEY_LIKE =
  /\b(?:sk|pk|gsk|xai|key)-[\w-]{6,}|\bAIza[\w-]{10,}|(?<=\bBearer\s{1,20})[^\s"',]+|(?<=\/\/)[^\s/@]+(?=@)/gi

/** Removes the given secrets and anything that looks like a key from the text, and cuts it at 2,000 characters. */
export function redact(text: string, secrets: readonly (string | null)[]): string {
  let clean = text.slice(0, MAX_READ)
  for (const secret of secrets) if (secret) clean = clean.replaceAll(secret, '[redacted]')
  clean = clean.replace(KEY_LIKE, '[redacted]')
  // The text may have been cut in the middle of a secret.
  const unsure = text.length > MAX_READ ? Math.max(0, ...secrets.map((secret) => secret?.length ?? 0)) : 0
  return clean.slice(0, Math.max(0, Math.min(MAX_CAUSE_LENGTH, clean.length - unsure)))
}

/**
 * Returns an error for the log with the messages of the given one and its causes, without secrets. The original is not
 * kept, because a provider's package stores the whole request in it.
 */
export function safeCause(error: unknown, secrets: readonly (string | null)[]): Error {
  const said: string[] = []
  for (let one: unknown = error, depth = 0; one && depth < 4; depth++) {
    const text = describe(one)
    if (text !== '' && !said.includes(text)) said.push(text)
    one = recordOf(one).cause
  }
  const safe = new Error(redact(said.join(': '), secrets))
  safe.name = String(recordOf(error).name ?? 'Error')
  return safe
}

/** Describes an error, or another thrown value, without its causes. */
export function describe(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { message, code, statusCode, responseBody } = recordOf(error)
  if (!(error instanceof Error)) return JSON.stringify(error)
  // When connections to several addresses fail, the error has no message.
  return [statusCode, message || code, responseBody === message ? '' : responseBody].filter(Boolean).join(' ')
}
