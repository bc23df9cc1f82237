import Type from 'typebox'
import { EpochSeconds, Exact, endpoint } from '../http/contract.ts'

export const getHealth = endpoint({
  method: 'GET',
  path: '/health',
  name: 'getHealth',
  tag: 'Health',
  summary: 'Whether the service answers',
  description: 'Needs no key, counts against no limit, and answers during maintenance.',
  scope: null,
  success: { status: 200, schema: Exact({ status: Type.Literal('ok'), timestamp: EpochSeconds }) },
  errors: [],
})
