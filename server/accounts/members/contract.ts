import Type from 'typebox'
import { Exact, endpointsOf, IsoTime, Nullable, OneOf, Success } from '../../platform/http/contract.ts'
import { roles } from '../keys/roles.ts'

const endpoint = endpointsOf('Members')

const AgentIds = Nullable(
  Type.Array(Type.String({ minLength: 1, maxLength: 50 }), {
    minItems: 1,
    maxItems: 500,
    uniqueItems: true,
    description:
      'The agents that the member is limited to; null: all agents, including future ones. Owners and admins cannot be limited.',
  }),
)
const Name = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S', refusal: 'Must not be blank.' })
const ROLES =
  'owner: everything. admin: everything but who is an owner. builder: agents, their sources, actions and channels. support: conversations, help desk and contacts. viewer: reads.'

const AccountMember = Exact({
  id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  role: OneOf(roles, { description: ROLES }),
  agentIds: AgentIds,
  canSignIn: Type.Boolean({ description: 'false: the member was never invited; others write in their name' }),
  hasSecondFactor: Type.Boolean(),
  lastSignInAt: Nullable(IsoTime),
  createdAt: IsoTime,
})

export const listAccountMembers = endpoint({
  method: 'GET',
  path: '/members',
  name: 'listAccountMembers',
  summary: 'List the members of the account',
  description: 'Members are in the order in which they were added.',
  scope: 'members:read',
  success: { status: 200, schema: Type.Array(AccountMember) },
})

export const updateMember = endpoint({
  method: 'PATCH',
  path: '/members/{memberId}',
  name: 'updateMember',
  summary: 'Change the name or the role of a member',
  description:
    'The change takes effect in every process within a second. Only an owner can make somebody an owner or change an owner; the last owner remains one. A role that cannot be limited removes the limit. An API key can permit a member more only with scopes that it has itself, and not at all if it expires.',
  scope: 'members:write',
  params: Exact({ memberId: Type.String({ minLength: 1 }) }),
  body: Exact({
    name: Type.Optional(Name),
    role: Type.Optional(OneOf(roles)),
    agentIds: Type.Optional(AgentIds),
  }),
  success: { status: 200, schema: AccountMember },
  errors: ['AGENT_NOT_FOUND', 'LAST_OWNER'],
})

export const updateMe = endpoint({
  method: 'PATCH',
  path: '/me',
  name: 'updateMe',
  summary: 'Change your name',
  description: 'Your colleagues and the visitors whom you answer see the name.',
  scope: 'account:read',
  onlySessions: true,
  limitedMembers: 'all',
  body: Exact({ name: Name }),
  success: { status: 200, schema: Success },
  errors: [],
})

export const updateAccount = endpoint({
  method: 'PATCH',
  path: '/account',
  name: 'updateAccount',
  tag: 'Account',
  summary: 'Change the name of the account',
  scope: 'members:write',
  body: Exact({ name: Name }),
  success: { status: 200, schema: Success },
  errors: [],
})

export const removeMember = endpoint({
  method: 'DELETE',
  path: '/members/{memberId}',
  name: 'removeMember',
  summary: 'Remove a member',
  description:
    'All of their sessions end, and their open tickets become unassigned. API keys that they have made go on working until they are revoked. Only an owner can remove an owner, and the last one cannot be removed.',
  scope: 'members:write',
  params: Exact({ memberId: Type.String({ minLength: 1 }) }),
  success: {
    status: 200,
    schema: Exact({
      success: Type.Literal(true),
      activeKeys: Type.Integer({
        description:
          'How many API keys that the member has made, or that were made with these, still work. `DELETE /keys?createdBy=member:<id>` revokes them.',
      }),
    }),
  },
  errors: ['LAST_OWNER'],
})

const invitation = {
  id: Type.String(),
  email: Type.String(),
  name: Nullable(Type.String()),
  role: OneOf(roles),
  agentIds: AgentIds,
  invitedBy: Type.String({ description: '`member:<id>` or `key:<id>`' }),
  isExpired: Type.Boolean(),
  createdAt: IsoTime,
  expiresAt: IsoTime,
}

export const listInvitations = endpoint({
  method: 'GET',
  path: '/invitations',
  name: 'listInvitations',
  summary: 'List the open invitations',
  description: 'Newest first, without their links. An expired invitation can be created again.',
  scope: 'members:read',
  success: { status: 200, schema: Type.Array(Exact(invitation)) },
})

export const createInvitation = endpoint({
  method: 'POST',
  path: '/invitations',
  name: 'createInvitation',
  summary: 'Invite somebody to the account',
  description:
    'The link works once, for seven days, and only this response contains it. It is mailed if the operator has set SMTP_URL and PUBLIC_URL. Only an owner can invite an owner. An API key can only invite to roles whose scopes it has itself, and not at all if it expires.',
  scope: 'members:write',
  shownOnce: ['link'],
  body: Exact({
    email: Type.String({ format: 'email', maxLength: 254 }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    role: OneOf(roles),
    agentIds: Type.Optional(AgentIds),
  }),
  success: {
    status: 201,
    schema: Exact({
      ...invitation,
      link: Nullable(
        Type.String({ description: 'null when the request is repeated with its Idempotency-Key' }),
      ),
      mailed: Type.Boolean({ description: 'Whether the link is sent by mail' }),
    }),
  },
  errors: ['RESOURCE_DUPLICATE', 'AGENT_NOT_FOUND', 'MEMBER_LIMIT_REACHED'],
})

export const revokeInvitation = endpoint({
  method: 'DELETE',
  path: '/invitations/{invitationId}',
  name: 'revokeInvitation',
  summary: 'Revoke an invitation',
  scope: 'members:write',
  params: Exact({ invitationId: Type.String({ minLength: 1 }) }),
  success: { status: 200, schema: Success },
})
