import type { OutputOf } from '../app/api.ts'

export type Role = OutputOf<'GET', '/members'>[number]['role']

export const ROLES: readonly (readonly [Role, string, string])[] = [
  ['owner', 'Owner', 'Everything'],
  ['admin', 'Admin', 'Everything but who is an owner'],
  ['builder', 'Builder', 'Agents, sources, actions and channels'],
  ['support', 'Support', 'Inbox, conversations and contacts'],
  ['viewer', 'Viewer', 'Reads'],
]
export const roleName = (role: Role): string => ROLES.find(([id]) => id === role)?.[1] ?? role
