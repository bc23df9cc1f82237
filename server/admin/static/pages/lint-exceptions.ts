type Exception = {
  rule: string
  /** The path in the document where the rule may be broken, with wildcards; if absent, everywhere. */
  where?: RegExp
  reason: string
}

/** These schemas describe responses and not requests. */
const ANSWERS = /^(paths \S+ \S+ responses|components (schemas|responses|headers))\b/
const BODIES = /^(paths \S+ \S+ (requestBody|responses)|components (schemas|responses|headers))\b/
const UNPROTECTED = /^paths \/(health|webhooks\/\S+|sign-in get) /
/** Endpoints for callers without a session, who send a password or the token of a link instead. */
const ENTRANCE = /^paths \/(set-up|sign-in\S*|password-resets\S*|invitations\/(look|accept)) post /

const inAnswers = (rule: string): Exception => ({
  rule,
  where: ANSWERS,
  reason: 'Limits protect from what clients send; an answer is as long as what is stored.',
})

/** The rules of Spectral and its OWASP set that the document breaks on purpose. */
export const lintExceptions: Exception[] = [
  { rule: 'info-contact', reason: 'Whoever runs the service is its contact.' },
  {
    rule: 'license-url',
    reason: 'The licence is named by its SPDX identifier, which OpenAPI 3.1 has in its place.',
  },
  inAnswers('owasp:api4:2023-array-limit'),
  {
    rule: 'owasp:api4:2023-string-limit',
    where: BODIES,
    reason:
      'A body has at most 1 MiB unless the endpoint says otherwise; colours and dates are bound by their form.',
  },
  {
    rule: 'owasp:api4:2023-string-restricted',
    reason: 'Names, questions and messages are free text; ids and cursors are opaque.',
  },
  {
    rule: 'owasp:api4:2023-integer-limit',
    where: BODIES,
    reason: 'An order or a number of seconds is any number; the database refuses none that JSON can hold.',
  },
  {
    rule: 'owasp:api8:2023-define-cors-origin',
    reason: 'There is no CORS: a key does not belong into a browser.',
  },
  { rule: 'owasp:api2:2023-read-restricted', where: UNPROTECTED, reason: 'Health and webhooks have no key.' },
  { rule: 'owasp:api2:2023-write-restricted', where: UNPROTECTED, reason: 'Webhooks are signed instead.' },
  {
    rule: 'owasp:api2:2023-write-restricted',
    where: ENTRANCE,
    reason: 'It is how one gets in; attempts are counted.',
  },
  {
    rule: 'owasp:api8:2023-define-error-responses-401',
    where: ENTRANCE,
    reason: 'A link that does not work is not found, so that nobody learns whether it ever did.',
  },
  {
    rule: 'owasp:api2:2023-no-credentials-in-url',
    where: UNPROTECTED,
    reason: 'The provider of the channel proves itself so.',
  },
  { rule: 'owasp:api4:2023-rate-limit', where: UNPROTECTED, reason: 'Webhooks are not counted.' },
  { rule: 'owasp:api4:2023-rate-limit-responses-429', where: UNPROTECTED, reason: 'Neither is counted.' },
  { rule: 'owasp:api8:2023-define-error-responses-401', where: UNPROTECTED, reason: 'Health has no key.' },
]
