import Type from 'typebox'
import { Exact, endpointsOf, IsoTime, Nullable, Success } from '../../../platform/http/contract.ts'

const endpoint = endpointsOf('Agents')
const params = Exact({ agentId: Type.String({ minLength: 1 }) })
const path = '/agents/{agentId}/visitor-identity'

export const readIdentitySecret = endpoint({
  method: 'GET',
  path,
  name: 'readVisitorIdentity',
  summary: 'Read whether the site can sign in visitors, and when the secret was created',
  scope: 'agents:read',
  params,
  success: { status: 200, schema: Exact({ enabled: Type.Boolean(), createdAt: Nullable(IsoTime) }) },
})

export const putIdentitySecret = endpoint({
  method: 'PUT',
  path,
  name: 'createVisitorIdentitySecret',
  summary: 'Create a new secret for signing the identity of visitors',
  description:
    'Only this response contains the secret. The earlier one becomes invalid at once, and every visitor who was signed in with it is signed out.',
  scope: 'agents:write',
  audit: 'identity.put',
  params,
  success: { status: 200, schema: Exact({ secret: Type.String(), createdAt: IsoTime }) },
})

export const deleteIdentitySecret = endpoint({
  method: 'DELETE',
  path,
  name: 'deleteVisitorIdentitySecret',
  summary: 'Delete the secret and sign out all signed-in visitors',
  scope: 'agents:write',
  audit: 'identity.delete',
  params,
  success: { status: 200, schema: Success },
})
