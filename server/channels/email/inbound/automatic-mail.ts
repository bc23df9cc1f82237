type HeadersOf = (name: string) => string[]

/** The presence of one of these headers means that the mail was not written by one person to another. */
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
 * Returns whether a program must not answer a mail (RFC 3834, 2; RFC 2076, 3.9). `from` is the address that an
 * answer would go to.
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
