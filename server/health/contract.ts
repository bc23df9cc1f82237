import Type from 'typebox'
import { EpochSeconds, Exact, endpoint } from '../http/contract.ts'

export const getHealth = endpoint({
  method: 'GET',
  path: '/health',
  name: 'getHealth',
  unknownFields: 'ignored',
  tag: 'Health',
  summary: 'Whether the service answers',
  description:
    'Needs no key, counts against no limit, and answers during maintenance. While the database is away it answers 503 with the reason.',
  scope: null,
  success: { status: 200, schema: Exact({ status: Type.Literal('ok'), timestamp: EpochSeconds }) },
})
