import Type from 'typebox'
import { ticketParams } from '../../../inbox/tickets/schema.ts'
import { Exact, endpoint } from '../../../platform/http/contract.ts'

export const readOriginal = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/helpdesk/tickets/{ticketNumber}/messages/{messageId}/original',
  name: 'readOriginalMail',
  tag: 'Helpdesk',
  summary: 'Where the HTML of a mail can be seen',
  description:
    'Of messages whose `metadata.mail.hasHtml` is true. The page runs nothing and may be shown in a frame of this service. Pictures of other servers, which tell their sender who reads, are only loaded by `urlWithImages`.',
  scope: 'helpdesk:read',
  params: Exact({ ...ticketParams.properties, messageId: Type.String({ minLength: 1 }) }),
  success: {
    status: 200,
    schema: Exact({
      url: Type.String({ description: 'Valid for an hour' }),
      urlWithImages: Type.String(),
      hasRemoteImages: Type.Boolean(),
    }),
  },
  errors: ['RESOURCE_NOT_FOUND'],
})
