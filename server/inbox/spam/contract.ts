import Type from 'typebox'
import { Exact, endpointsOf, IsoTime, Success } from '../../platform/http/contract.ts'
import { Ticket, ticketParams } from '../tickets/schema.ts'

const endpoint = endpointsOf('Helpdesk')
const base = '/agents/{agentId}/helpdesk'

const BlockedSender = Exact({
  id: Type.String(),
  sender: Type.String({ description: 'An address or a domain' }),
  createdAt: IsoTime,
})

export const markAsSpam = endpoint({
  method: 'POST',
  path: `${base}/tickets/{ticketNumber}/spam`,
  name: 'markTicketAsSpam',
  summary: 'Mark a ticket as spam',
  description: 'It is cancelled and leaves the lists, except with `spam=true`.',
  scope: 'helpdesk:write',
  params: ticketParams,
  body: Exact({
    blockSender: Type.Boolean({
      default: false,
      description: 'Mails from the address of the customer are stored silently from now on',
    }),
  }),
  success: { status: 200, schema: Ticket },
})

export const unmarkAsSpam = endpoint({
  method: 'DELETE',
  path: `${base}/tickets/{ticketNumber}/spam`,
  name: 'unmarkTicketAsSpam',
  summary: 'Take a ticket for no spam',
  description: 'It is open again. A blocked sender stays blocked.',
  scope: 'helpdesk:write',
  params: ticketParams,
  success: { status: 200, schema: Ticket },
})

export const listBlockedSenders = endpoint({
  method: 'GET',
  path: `${base}/blocked-senders`,
  name: 'listBlockedSenders',
  summary: 'List the blocked senders',
  description: 'The newest 1,000.',
  scope: 'helpdesk:read',
  success: { status: 200, schema: Type.Array(BlockedSender) },
})

export const blockSender = endpoint({
  method: 'POST',
  path: `${base}/blocked-senders`,
  name: 'blockSender',
  summary: 'Block a sender',
  description: 'Mails from it are stored, and neither answered nor shown as tickets.',
  scope: 'helpdesk:write',
  body: Exact({
    sender: Type.String({
      minLength: 3,
      maxLength: 254,
      description: 'An address, or a domain such as example.com, with all below it',
    }),
  }),
  success: { status: 201, schema: BlockedSender },
})

export const unblockSender = endpoint({
  method: 'DELETE',
  path: `${base}/blocked-senders/{blockedSenderId}`,
  name: 'unblockSender',
  summary: 'Unblock a sender',
  scope: 'helpdesk:write',
  success: { status: 200, schema: Success },
  errors: ['RESOURCE_NOT_FOUND'],
})
