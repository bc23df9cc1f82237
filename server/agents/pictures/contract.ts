import Type from 'typebox'
import { Exact } from '../../platform/http/contract.ts'
import { rawEndpoint } from '../../platform/http/raw-endpoint.ts'

export const showPicture = rawEndpoint({
  method: 'GET',
  path: '/pictures/{agentId}/{name}',
  name: 'showPicture',
  summary: "An agent's icon or profile picture",
  description: 'The name is `icon` or `profile-picture`. The URL stays the same when the picture changes.',
  access: 'anyone',
  params: Exact({ agentId: Type.String(), name: Type.String() }),
  success: { status: 200, description: 'The picture', types: ['image/png'] },
  unknown: 'RESOURCE_NOT_FOUND',
})
