import Type from 'typebox'
import { Exact, endpoint } from '../http/contract.ts'
import { Ticket } from './schema.ts'

const Id = Type.String({ minLength: 1 })
const conversationParams = Exact({ agentId: Id, conversationId: Id })

const answer = <const S extends string>(status: S) => ({ id: Type.String(), status: Type.Literal(status) })

export const takeOverConversation = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/conversations/{conversationId}/takeover',
  name: 'takeOverConversation',
  tag: 'Helpdesk',
  summary: 'Let a team member take a conversation over',
  description:
    'From then on the agent says nothing in it, also nothing of a reply that is being made. The conversation gets a ticket, which is the member’s.',
  scope: 'helpdesk:write',
  params: conversationParams,
  body: Exact({
    memberId: Type.Optional(Type.String({ minLength: 1, description: 'This or memberEmail' })),
    memberEmail: Type.Optional(Type.String({ minLength: 1, description: 'In any case of letters' })),
  }),
  success: {
    status: 200,
    schema: Exact({ data: Exact({ ...answer('taken_over'), ticketNumber: Type.Integer({ minimum: 1 }) }) }),
  },
  errors: ['AGENT_NOT_FOUND', 'RESOURCE_NOT_FOUND', 'CHAT_CONVERSATION_NOT_ONGOING', 'TEAM_MEMBER_NOT_FOUND'],
})

export const handBackConversation = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/conversations/{conversationId}/handback',
  name: 'handBackConversation',
  tag: 'Helpdesk',
  summary: 'Give a conversation back to the agent',
  description: 'Its ticket is closed.',
  scope: 'helpdesk:write',
  params: conversationParams,
  success: { status: 200, schema: Exact({ data: Exact(answer('ongoing')) }) },
  errors: ['AGENT_NOT_FOUND', 'RESOURCE_NOT_FOUND', 'CONVERSATION_NOT_TAKEN_OVER'],
})

export const endConversation = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/conversations/{conversationId}/end',
  name: 'endConversation',
  tag: 'Helpdesk',
  summary: 'End a conversation',
  description: 'Its ticket is closed. Ending it again does no harm.',
  scope: 'helpdesk:write',
  params: conversationParams,
  success: { status: 200, schema: Exact({ data: Exact(answer('ended')) }) },
  errors: ['AGENT_NOT_FOUND', 'RESOURCE_NOT_FOUND'],
})

export const readTicket = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/helpdesk/tickets/{ticketNumber}',
  name: 'readTicket',
  tag: 'Helpdesk',
  summary: 'Read a ticket',
  scope: 'helpdesk:read',
  params: Exact({ agentId: Id, ticketNumber: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }) }),
  success: { status: 200, schema: Ticket },
  errors: ['AGENT_NOT_FOUND', 'TICKET_NOT_FOUND'],
})
