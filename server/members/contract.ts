import Type from 'typebox'
import { roles } from '../accounts/keys/roles.ts'
import { Exact, endpoint, IsoTime, Nullable, OneOf, Success } from '../http/contract.ts'

const tag = 'Members'

const AgentIds = Nullable(
  Type.Array(Type.String({ minLength: 1, maxLength: 50 }), {
    minItems: 1,
    maxItems: 500,
    uniqueItems: true,
    description:
      'The only agents that the member has to do with; null: all of them, those to come included. Owners and admins cannot be limited.',
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
  canSignIn: Type.Boolean({ description: 'false: was never invited, so that others write in this name' }),
  hasSecondFactor: Type.Boolean(),
  lastSignInAt: Nullable(IsoTime),
  createdAt: IsoTime,
})

export const listAccountMembers = endpoint({
  method: 'GET',
  path: '/members',
  name: 'listAccountMembers',
  tag,
  summary: 'List the members of the account',
  description: 'In the order of their coming.',
  scope: 'members:read',
  success: { status: 200, schema: Type.Array(AccountMember) },
})

export const updateMember = endpoint({
  method: 'PATCH',
  path: '/members/{memberId}',
  name: 'updateMember',
  tag,
  summary: 'Change the name of a member, or what the member may do',
  description:
    'From the next second on in every process. Only an owner makes somebody an owner, or changes one; the last owner stays one. A role that cannot be limited takes away the limit.',
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
  tag,
  summary: 'Change your name',
  description: 'Colleagues see it, and visitors whom you answer.',
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
  tag,
  summary: 'Remove a member',
  description:
    'With all of their sessions. Their open tickets have no assignee then. Only an owner removes an owner, and the last one cannot be removed.',
  scope: 'members:write',
  params: Exact({ memberId: Type.String({ minLength: 1 }) }),
  success: { status: 200, schema: Success },
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
  tag,
  summary: 'List the invitations that nobody has accepted yet',
  description: 'Newest first, without their links. An expired one can be made again.',
  scope: 'members:read',
  success: { status: 200, schema: Type.Array(Exact(invitation)) },
})

export const createInvitation = endpoint({
  method: 'POST',
  path: '/invitations',
  name: 'createInvitation',
  tag,
  summary: 'Invite somebody to the account',
  description:
    'The link works once and for seven days, and is in this answer only. It is mailed when the operator has set SMTP_URL and PUBLIC_URL. Only an owner invites an owner.',
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
      mailed: Type.Boolean({ description: 'A mail with the link is on its way' }),
    }),
  },
  errors: ['RESOURCE_DUPLICATE', 'AGENT_NOT_FOUND', 'MEMBER_LIMIT_REACHED'],
})

export const revokeInvitation = endpoint({
  method: 'DELETE',
  path: '/invitations/{invitationId}',
  name: 'revokeInvitation',
  tag,
  summary: 'Take an invitation back',
  scope: 'members:write',
  params: Exact({ invitationId: Type.String({ minLength: 1 }) }),
  success: { status: 200, schema: Success },
})
