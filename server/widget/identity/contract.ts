import Type from 'typebox'
import { Exact, endpoint, IsoTime, Nullable, Success } from '../../http/contract.ts'

const tag = 'Agents'
const params = Exact({ agentId: Type.String({ minLength: 1 }) })
const path = '/agents/{agentId}/visitor-identity'

export const readIdentitySecret = endpoint({
  method: 'GET',
  path,
  name: 'readVisitorIdentity',
  tag,
  summary: 'Whether visitors can be signed in by the site, and since when the secret holds',
  scope: 'agents:read',
  params,
  success: { status: 200, schema: Exact({ enabled: Type.Boolean(), createdAt: Nullable(IsoTime) }) },
})

export const putIdentitySecret = endpoint({
  method: 'PUT',
  path,
  name: 'createVisitorIdentitySecret',
  tag,
  summary: 'Make a new secret that the site signs the identity of its visitors with',
  description:
    'The answer is the only one that shows the secret. The one before ends at once, and every visitor who was signed in with it is signed out.',
  scope: 'agents:write',
  audit: 'identity.put',
  params,
  success: { status: 200, schema: Exact({ secret: Type.String(), createdAt: IsoTime }) },
})

export const deleteIdentitySecret = endpoint({
  method: 'DELETE',
  path,
  name: 'deleteVisitorIdentitySecret',
  tag,
  summary: 'Take no signed visitors any more; those who are signed in are signed out',
  scope: 'agents:write',
  audit: 'identity.delete',
  params,
  success: { status: 200, schema: Success },
})
