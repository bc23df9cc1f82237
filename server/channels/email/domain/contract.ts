import Type from 'typebox'
import { Exact, endpoint, Nullable, OneOf } from '../../../platform/http/contract.ts'

const finding = Exact({
  check: OneOf(['spf', 'dkim', 'dmarc']),
  result: OneOf(['ok', 'missing', 'problem', 'unknown'], {
    description: 'unknown: the name servers did not answer, or the selector is not known',
  }),
  name: Type.String({ description: 'The name of the TXT record' }),
  found: Nullable(Type.String({ description: 'The record as it is' })),
  advice: Nullable(Type.String({ description: 'What to do' })),
  suggestion: Nullable(Type.String({ description: 'A record that could be entered' })),
})

export const checkMailDomain = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/email/connection/domain',
  name: 'checkMailDomain',
  tag: 'Email',
  summary: 'Check the domain of the mailbox',
  description:
    'Reads the records by which other mail servers judge mails from the domain: SPF, DKIM and DMARC. Nothing is changed.',
  scope: 'messaging:read',
  params: Exact({ agentId: Type.String({ minLength: 1 }) }),
  query: Exact({
    selector: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 63,
        pattern: '^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$',
        refusal: 'Must be a selector such as mail or s1.',
        description: 'Of DKIM: the value of `s=` in DKIM-Signature of a mail that you have sent',
      }),
    ),
  }),
  success: { status: 200, schema: Exact({ domain: Type.String(), findings: Type.Array(finding) }) },
  errors: ['RESOURCE_NOT_FOUND'],
})
