import Type from 'typebox'
import { Exact, endpoint, Nullable, OneOf } from '../../platform/http/contract.ts'
import { connectionStatuses } from './connection-status.ts'

const state = {
  status: OneOf(connectionStatuses, { description: 'Whether it worked when it was last used' }),
  problem: Nullable(Type.String({ description: 'Why it did not' })),
}

export const listChannels = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/channels',
  name: 'listChannels',
  tag: 'Agents',
  summary: 'Read which channels an agent is connected to',
  description: 'null means that it is not connected. Read the connections for details.',
  scope: 'messaging:read',
  params: Exact({ agentId: Type.String({ minLength: 1 }) }),
  success: {
    status: 200,
    schema: Exact({
      email: Nullable(Exact({ address: Type.String(), ...state })),
      messaging: Nullable(Exact({ accounts: Type.Integer({ minimum: 1 }), ...state })),
    }),
  },
})
