import Type from 'typebox'
import { Exact, endpoint, Nullable } from '../../http/contract.ts'

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
      email: Nullable(Exact({ address: Type.String() })),
      messaging: Nullable(Exact({ accounts: Type.Integer({ minimum: 1 }) })),
    }),
  },
})
