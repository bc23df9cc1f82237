type HeadersOf = (name: string) => string[]

/** Headers whose being there says that no person wrote this to one person. */
const TELLING = [
  'list-id',
  'list-unsubscribe',
  'x-autoreply',
  'x-autorespond',
  'x-auto-response-suppress',
  'x-failed-recipients',
]
const NOBODY = /^(mailer-daemon|postmaster|bounces?|no-?reply|do-?not-?reply|nicht-?antworten)([-+.].*)?$/

/**
 * Whether a mail may not be answered by a program (RFC 3834, 2; RFC 2076, 3.9). `from` is the address that an answer
 * would go to.
 */
export function isAutomatic(headersOf: HeadersOf, from: string | null): boolean {
  const has = (name: string, pattern: RegExp): boolean => headersOf(name).some((value) => pattern.test(value))
  return (
    from === null ||
    NOBODY.test(from.slice(0, from.lastIndexOf('@'))) ||
    headersOf('auto-submitted').some((value) => !/^\s*no\b/i.test(value)) ||
    has('precedence', /^\s*(bulk|junk|list|auto_reply)\b/i) ||
    has('return-path', /^\s*<\s*>\s*$/) ||
    has('content-type', /^\s*multipart\/report\b/i) ||
    TELLING.some((name) => headersOf(name).length > 0)
  )
}
