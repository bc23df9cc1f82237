import Type from 'typebox'
import { Exact, endpoint, IsoTime, Nullable, OneOf } from '../http/contract.ts'
import { roles } from './roles.ts'

export const getMe = endpoint({
  method: 'GET',
  path: '/me',
  name: 'getMe',
  tag: 'Account',
  summary: 'Who this key is',
  description:
    'The account, its plan, the key and the credits of this UTC month; for a member who is signed in, the member in place of the key.',
  scope: 'account:read',
  limitedMembers: 'all',
  success: {
    status: 200,
    schema: Exact({
      account: Exact({ id: Type.String(), name: Type.String() }),
      plan: Type.String(),
      key: Nullable(
        Exact(
          {
            id: Type.String(),
            name: Type.String(),
            scopes: Nullable(Type.Array(Type.String(), { description: 'null: every scope' })),
            expiresAt: Nullable(IsoTime),
          },
          { description: 'null: a member who is signed in' },
        ),
      ),
      member: Type.Optional(
        Exact(
          {
            id: Type.String(),
            name: Type.String(),
            email: Type.String(),
            role: OneOf(roles),
            scopes: Type.Array(Type.String()),
            agentIds: Nullable(Type.Array(Type.String(), { description: 'null: every agent' })),
            hasSecondFactor: Type.Boolean(),
          },
          { description: 'Who is signed in; absent for a key' },
        ),
      ),
      credits: Exact({
        limit: Nullable(Type.Integer({ description: 'null: without limit' })),
        used: Type.Integer(),
        resetsAt: IsoTime,
      }),
    }),
  },
  errors: [],
})
