import type { Role } from '../../platform/db/tables/accounts.ts'
import { type Scope, scopes } from '../../platform/http/contract.ts'

export const roles = ['owner', 'admin', 'builder', 'support', 'viewer'] as const satisfies Role[]

const READS: Scope[] = [
  'account:read',
  'agents:read',
  'sources:read',
  'actions:read',
  'conversations:read',
  'helpdesk:read',
  'messaging:read',
]

const SCOPES: Record<Role, readonly Scope[]> = {
  owner: scopes,
  admin: scopes,
  builder: [
    ...READS,
    'agents:write',
    'sources:write',
    'actions:write',
    'chat',
    'conversations:write',
    'messaging:write',
  ],
  support: [...READS, 'conversations:write', 'helpdesk:write'],
  viewer: READS,
}

/** Returns the scopes of a member with this role. */
export const scopesOf = (role: Role): Scope[] => [...SCOPES[role]]

/**
 * Returns whether a member with this role can be limited to some agents. Owners and admins always have access to the
 * whole account.
 */
export const canBeLimited = (role: Role): boolean => role !== 'owner' && role !== 'admin'
