import type { OutputOf } from '../app/api.ts'

export type Action = OutputOf<'GET', '/agents/{agentId}/actions/{actionId}'>
export type ActionType = Action['type']

export const TYPES: readonly (readonly [ActionType, string, string])[] = [
  ['http', 'Request', 'Sends a request to a service of yours and reads its answer.'],
  ['client', 'In your application', 'Your website or app runs it and tells the agent the result.'],
  ['collect-leads', 'Leave details', 'Stores a name, an address or a number that the visitor leaves.'],
  ['escalate', 'Hand over', 'Opens a ticket for your team.'],
  ['web-search', 'Search the web', "Asks the installation's search service."],
]

export const typeName = (type: ActionType): string => TYPES.find(([id]) => id === type)?.[1] ?? type

/** The types whose inputs are fixed. */
export const hasOwnInputs = (type: ActionType): boolean => type === 'http' || type === 'client'

export const RUN_TONES = {
  success: 'success',
  completed: 'success',
  running: 'info',
  pending: 'info',
  error: 'danger',
  failed: 'danger',
  ignored: 'neutral',
  abandoned: 'neutral',
} as const
