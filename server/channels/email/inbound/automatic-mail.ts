type HeadersOf = (name: string) => string[]

/** The presence of such a header means that a program wrote the mail. */
const TELLING = /^x-(?:auto-?(?:reply|respon(?!se-suppress))|failed-recipients$)/
/** A report has no return path, in place of which some servers that forward mails write their own. */
const NO_RETURN_PATH = /^\s*<\s*(?:#@\[\]\s*|mailer-daemon@[^<>]*)?>\s*$/i
const LIST = ['list-id', 'list-post', 'mailing-list']

/**
 * Returns whether a program wrote the mail (RFC 3834, 2; RFC 2076, 3.9). `names` are those of its headers, and `from` is
 * the address that an answer would go to. Its name does not count: forms and shops send what people write from addresses
 * such as no-reply@. X-Auto-Response-Suppress does not count: it says what the sender does not want to receive.
 */
export function isByProgram(names: string[], headersOf: HeadersOf, from: string | null): boolean {
  const has = (name: string, pattern: RegExp): boolean => headersOf(name).some((value) => pattern.test(value))
  return (
    from === null ||
    headersOf('auto-submitted').some((value) => !/^\s*no\b/i.test(value)) ||
    ['precedence', 'x-precedence'].some((name) => has(name, /^\s*(bulk|junk|auto_reply)\b/i)) ||
    has('return-path', NO_RETURN_PATH) ||
    has('content-type', /^\s*multipart\/report\b/i) ||
    names.some((name) => TELLING.test(name))
  )
}

/**
 * Returns null for a mail that did not come through a list (RFC 2919, RFC 2369); otherwise the names of the list in
 * lower case: its addresses and its id. Some systems add List-Unsubscribe to what a person writes, so that header does
 * not count in an answer to another mail.
 */
export function listsOf(headersOf: HeadersOf, isAnswer: boolean): string[] | null {
  const isList =
    LIST.some((name) => headersOf(name).length > 0) ||
    headersOf('precedence').some((value) => /^\s*list\b/i.test(value)) ||
    (headersOf('list-unsubscribe').length > 0 && !isAnswer)
  if (!isList) return null
  const named = [
    ...headersOf('list-id').flatMap((value) => /<([^<>\s]+)>/.exec(value)?.[1] ?? value.trim()),
    ...headersOf('list-post').flatMap((value) => /<mailto:([^<>\s?]+)/i.exec(value)?.[1] ?? []),
    ...headersOf('mailing-list').flatMap((value) => /\blist\s+([^\s;]+@[^\s;]+)/i.exec(value)?.[1] ?? []),
  ]
  return named.map((name) => name.toLowerCase().slice(0, 300)).slice(0, 20)
}

/** Returns whether one of the names is that of the list with this address. Its id has a dot in place of the @. */
export const isListOf = (lists: string[], address: string): boolean =>
  lists.some((name) => name === address || name === address.replace('@', '.'))
