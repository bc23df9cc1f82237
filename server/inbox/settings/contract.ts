import Type from 'typebox'
import { MAX_BYTES } from '../../conversations/attachments/limits.ts'
import { Exact, endpointsOf, IsoTime, Nullable, OneOf, Success } from '../../platform/http/contract.ts'
import { Attachment, Author, Color, Name, TicketNumber, ticketParams } from '../tickets/schema.ts'
import { BusinessHours, Targets } from './settings-schema.ts'

const endpoint = endpointsOf('Helpdesk')
const base = '/agents/{agentId}/helpdesk'

const Tag = Exact({ id: Type.String(), name: Type.String(), color: Type.String() })

export const listTags = endpoint({
  method: 'GET',
  path: `${base}/tags`,
  name: 'listTicketTags',
  summary: 'List the tags that tickets can have',
  scope: 'helpdesk:read',
  success: { status: 200, schema: Type.Array(Tag) },
})

export const createTag = endpoint({
  method: 'POST',
  path: `${base}/tags`,
  name: 'createTicketTag',
  summary: 'Create a tag',
  scope: 'helpdesk:write',
  body: Exact({ name: Name, color: Type.Optional(Color) }),
  success: { status: 201, schema: Tag },
  errors: ['RESOURCE_DUPLICATE'],
})

export const updateTag = endpoint({
  method: 'PUT',
  path: `${base}/tags/{tagId}`,
  name: 'updateTicketTag',
  summary: 'Change a tag',
  scope: 'helpdesk:write',
  body: Exact({ name: Type.Optional(Name), color: Type.Optional(Color) }),
  success: { status: 200, schema: Tag },
  errors: ['RESOURCE_DUPLICATE'],
})

export const deleteTag = endpoint({
  method: 'DELETE',
  path: `${base}/tags/{tagId}`,
  name: 'deleteTicketTag',
  summary: 'Delete a tag',
  description: 'It is removed from all tickets.',
  scope: 'helpdesk:write',
  success: { status: 200, schema: Success },
})

export const readTicketTags = endpoint({
  method: 'GET',
  path: `${base}/tickets/{ticketNumber}/tags`,
  name: 'readTagsOfTicket',
  summary: 'The tags of a ticket',
  scope: 'helpdesk:read',
  params: ticketParams,
  success: { status: 200, schema: Type.Array(Tag) },
})

export const setTicketTags = endpoint({
  method: 'PUT',
  path: `${base}/tickets/{ticketNumber}/tags`,
  name: 'setTagsOfTicket',
  summary: 'Replace the tags of a ticket',
  scope: 'helpdesk:write',
  params: ticketParams,
  body: Exact({ tagIds: Type.Array(Type.String({ minLength: 1 }), { maxItems: 20, uniqueItems: true }) }),
  success: { status: 200, schema: Type.Array(Tag) },
  errors: ['RESOURCE_NOT_FOUND'],
})

const CannedReply = Exact({
  id: Type.String(),
  name: Type.String(),
  content: Type.String(),
  createdAt: IsoTime,
  updatedAt: IsoTime,
})
const CannedContent = Type.String({
  minLength: 1,
  maxLength: 10_000,
  description: 'Markdown with variables such as {{customer.name}}',
})

export const listCannedReplies = endpoint({
  method: 'GET',
  path: `${base}/canned-replies`,
  name: 'listCannedReplies',
  summary: 'List the canned replies',
  scope: 'helpdesk:read',
  success: { status: 200, schema: Type.Array(CannedReply) },
})

export const createCannedReply = endpoint({
  method: 'POST',
  path: `${base}/canned-replies`,
  name: 'createCannedReply',
  summary: 'Create a canned reply',
  description:
    'Variables: customer.name, customer.email, customer.phoneNumber, ticket.number, ticket.subject, author.name, author.email, agent.name.',
  scope: 'helpdesk:write',
  body: Exact({ name: Name, content: CannedContent }),
  success: { status: 201, schema: CannedReply },
  errors: ['RESOURCE_DUPLICATE'],
})

export const updateCannedReply = endpoint({
  method: 'PUT',
  path: `${base}/canned-replies/{cannedReplyId}`,
  name: 'updateCannedReply',
  summary: 'Change a canned reply',
  scope: 'helpdesk:write',
  body: Exact({ name: Type.Optional(Name), content: Type.Optional(CannedContent) }),
  success: { status: 200, schema: CannedReply },
  errors: ['RESOURCE_DUPLICATE'],
})

export const deleteCannedReply = endpoint({
  method: 'DELETE',
  path: `${base}/canned-replies/{cannedReplyId}`,
  name: 'deleteCannedReply',
  summary: 'Delete a canned reply',
  scope: 'helpdesk:write',
  success: { status: 200, schema: Success },
})

export const fillCannedReply = endpoint({
  method: 'POST',
  path: `${base}/canned-replies/{cannedReplyId}/fill`,
  name: 'fillCannedReply',
  summary: 'Fill a canned reply in for a ticket',
  description: 'Nothing is sent. `missing` names the unknown variables; they are left empty.',
  scope: 'helpdesk:read',
  body: Exact({ ticketNumber: TicketNumber, ...Author }),
  success: { status: 200, schema: Exact({ content: Type.String(), missing: Type.Array(Type.String()) }) },
  errors: ['TICKET_NOT_FOUND', 'TEAM_MEMBER_NOT_FOUND'],
})

const Settings = Exact({
  targets: Targets,
  businessHours: Nullable(BusinessHours),
  surveyEnabled: Type.Boolean(),
  signature: Nullable(Type.String()),
})

export const readSettings = endpoint({
  method: 'GET',
  path: `${base}/settings`,
  name: 'readHelpdeskSettings',
  versioned: Object.keys(Settings.properties),
  summary: 'Read the settings of a help desk',
  scope: 'helpdesk:read',
  success: { status: 200, schema: Settings },
})

export const updateSettings = endpoint({
  method: 'PUT',
  path: `${base}/settings`,
  name: 'updateHelpdeskSettings',
  changes: readSettings,
  summary: 'Change the settings of a help desk',
  description:
    'An omitted field stays as it is. New targets apply to clocks that start afterwards. Without business hours, every minute counts.',
  scope: 'helpdesk:write',
  body: Exact({
    targets: Type.Optional(Targets),
    businessHours: Type.Optional(Nullable(BusinessHours)),
    surveyEnabled: Type.Optional(
      Type.Boolean({ description: 'Whether customers of closed tickets get a survey' }),
    ),
    signature: Type.Optional(
      Nullable(
        Type.String({
          maxLength: 2_000,
          description: 'Markdown that mails of members end with, with variables as in canned replies',
        }),
      ),
    ),
  }),
  success: { status: 200, schema: Settings },
})

export const readTicketClocks = endpoint({
  method: 'GET',
  path: `${base}/tickets/{ticketNumber}/clocks`,
  name: 'readClocksOfTicket',
  summary: 'Read when answers and the solution of a ticket are due',
  description:
    '`dueAt` is null while the clock stands still: the way to a solution does on_customer and on_hold.',
  scope: 'helpdesk:read',
  params: ticketParams,
  success: {
    status: 200,
    schema: Type.Array(
      Exact({
        kind: OneOf(['first_response', 'next_response', 'resolution']),
        targetMinutes: Type.Integer(),
        startedAt: IsoTime,
        dueAt: Nullable(IsoTime),
        metAt: Nullable(IsoTime),
        breached: Type.Boolean(),
      }),
    ),
  },
})

export const readTicketSurvey = endpoint({
  method: 'GET',
  path: `${base}/tickets/{ticketNumber}/survey`,
  name: 'readSurveyOfTicket',
  summary: "Read the customer's answer to the survey",
  scope: 'helpdesk:read',
  params: ticketParams,
  success: {
    status: 200,
    schema: Exact({
      sentAt: Nullable(IsoTime),
      answeredAt: Nullable(IsoTime),
      rating: Nullable(Type.Integer({ minimum: 1, maximum: 5 })),
      comment: Nullable(Type.String()),
    }),
  },
})

export const uploadAttachment = endpoint({
  method: 'POST',
  path: `${base}/attachments`,
  name: 'uploadAttachment',
  summary: 'Upload a file for a reply',
  description:
    'multipart/form-data with the field `file`, at most 25 MB. What no reply has taken after two days is removed; until then uploads of an account take at most 1,000 MB.',
  scope: 'helpdesk:write',
  multipart: { fields: Exact({}), file: 'file', maxBytes: MAX_BYTES },
  success: { status: 201, schema: Exact({ id: Type.String(), ...Attachment.properties }) },
  errors: ['ATTACHMENT_LIMIT_EXCEEDED'],
})

export const followEvents = endpoint({
  method: 'GET',
  path: `${base}/events`,
  name: 'followHelpdesk',
  summary: 'Follow what happens in a help desk',
  description:
    'Sends server-sent events (ticket, message, mention, conversation, delivery, presence and seen) that name what has changed. With the header `Last-Event-ID`, the events after that one are sent first; `reload` means that some are no longer available (they are kept for 24 hours) and everything has to be read again. An account may have at most 50 open streams in each process of the service.',
  scope: 'helpdesk:read',
  success: { status: 204, schema: Type.Unsafe<undefined>({}), description: 'The service is about to stop' },
  streams: Type.Object(
    {},
    {
      additionalProperties: true,
      description: 'Names the changed object; the name of the event says what has happened',
    },
  ),
})
