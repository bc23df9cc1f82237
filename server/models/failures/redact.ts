const LONGEST_CAUSE = 2_000
/** Characters that are looked at: a provider may answer with megabytes. */
const MOST_READ = 50_000

/** Words that look like keys of the known providers, whatever follows "Bearer", and passwords in addresses. */
const KEY_LIKE =
  /\b(?:sk|pk|gsk|xai|key)-[\w-]{6,}|\bAIza[\w-]{10,}|(?<=\bBearer\s{1,20})[^\s"',]+|(?<=\/\/)[^\s/@]+(?=@)/gi

/** The text without the given secrets and without anything that looks like a key; cut at 2,000 characters. */
export function redact(text: string, secrets: readonly (string | null)[]): string {
  let clean = text.slice(0, MOST_READ)
  for (const secret of secrets) if (secret) clean = clean.replaceAll(secret, '[redacted]')
  clean = clean.replace(KEY_LIKE, '[redacted]')
  // Half a secret may stand where the text was cut.
  const unsure = text.length > MOST_READ ? Math.max(0, ...secrets.map((secret) => secret?.length ?? 0)) : 0
  return clean.slice(0, Math.max(0, Math.min(LONGEST_CAUSE, clean.length - unsure)))
}

/**
 * An error for the log that says what the given one and its causes say, without secrets. The original is let
 * go: a provider's package keeps the whole request in it.
 */
export function safeCause(error: unknown, secrets: readonly (string | null)[]): Error {
  const said: string[] = []
  for (let one: unknown = error, depth = 0; one && depth < 4; depth++) {
    const text = describe(one)
    if (text !== '' && !said.includes(text)) said.push(text)
    one = (one as { cause?: unknown }).cause
  }
  const safe = new Error(redact(said.join(': '), secrets))
  safe.name = (error as Error | undefined)?.name ?? 'Error'
  return safe
}

/** What an error, or a value thrown as one, says without its causes. */
export function describe(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { message, code, statusCode, responseBody } = error as Record<string, unknown>
  if (!(error instanceof Error)) return JSON.stringify(error)
  // Failed connections to several addresses come as an error without a message.
  return [statusCode, message || code, responseBody === message ? '' : responseBody].filter(Boolean).join(' ')
}
