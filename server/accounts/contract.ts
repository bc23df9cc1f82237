import Type from 'typebox'
import { Exact, endpoint, IsoTime, Nullable } from '../http/contract.ts'

export const getMe = endpoint({
  method: 'GET',
  path: '/me',
  name: 'getMe',
  tag: 'Account',
  summary: 'Who this key is',
  description: 'The account, its plan, the key and the credits of this UTC month.',
  scope: 'account:read',
  success: {
    status: 200,
    schema: Exact({
      account: Exact({ id: Type.String(), name: Type.String() }),
      plan: Type.String(),
      key: Exact({
        id: Type.String(),
        name: Type.String(),
        scopes: Nullable(Type.Array(Type.String(), { description: 'null: every scope' })),
        expiresAt: Nullable(IsoTime),
      }),
      credits: Exact({
        limit: Nullable(Type.Integer({ description: 'null: without limit' })),
        used: Type.Integer(),
        resetsAt: IsoTime,
      }),
    }),
  },
  errors: [],
})
