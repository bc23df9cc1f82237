import Type from 'typebox'
import { Exact, endpoint, Success } from '../../platform/http/contract.ts'

const params = Exact({ agentId: Type.String({ minLength: 1 }) })
const path = '/agents/{agentId}/ticket-knowledge'

export const readTicketKnowledge = endpoint({
  method: 'GET',
  path,
  name: 'readTicketKnowledge',
  tag: 'Sources',
  summary: 'Read whether the agent answers from solved tickets',
  scope: 'sources:read',
  params,
  success: { status: 200, schema: Exact({ enabled: Type.Boolean() }) },
})

export const setTicketKnowledge = endpoint({
  method: 'PUT',
  path,
  name: 'setTicketKnowledge',
  audit: 'agent.update',
  tag: 'Sources',
  summary: 'Enable or disable answers from solved tickets',
  description:
    'When enabled, each closed ticket with a helpful reply of the team becomes a source of the type ticket, without e-mail addresses, numbers and the customer’s name. When disabled, all of them are removed from answers at once.',
  scope: 'sources:write',
  params,
  body: Exact({ enabled: Type.Boolean() }),
  success: { status: 200, schema: Success },
})
