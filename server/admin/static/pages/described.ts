import { Agent } from '../../../agents/records/schema.ts'
import { SuggestedMessage } from '../../../agents/settings/settings-schema.ts'
import { Styles } from '../../../agents/settings/styles-schema.ts'
import { Template } from '../../../channels/messaging/schema.ts'
import { Conversation, Message, StreamEvent, streamEvents } from '../../../conversations/records/schema.ts'
import { CreatedReply, ListedTicket, Ticket, TicketMessage } from '../../../inbox/tickets/schema.ts'
import { CitedSource } from '../../../knowledge/search/answering/schema.ts'
import { Source } from '../../../knowledge/sources/schema.ts'
import type { Endpoint } from '../../../platform/http/contract.ts'
import type { Described } from '../../../platform/http/openapi/openapi.ts'
import type { RawEndpoint } from '../../../platform/http/raw-endpoint.ts'

/** Returns what the OpenAPI document describes: the contracts of both versions, webhooks and shared schemas. */
export const describe = (contracts: Endpoint[], version1: Endpoint[], raw: RawEndpoint[]): Described => ({
  endpoints: contracts,
  version1,
  raw,
  schemas: {
    Agent,
    Styles,
    SuggestedMessage,
    Source,
    Conversation,
    Message,
    CitedSource,
    StreamEvent,
    ...streamEvents,
    Ticket,
    ListedTicket,
    TicketMessage,
    CreatedReply,
    Template,
  },
  tags: {
    Account: 'Who a key belongs to, and what is left',
    Actions: 'What an agent can do besides answering',
    Agents: 'Agents and their settings',
    Chat: 'Messages to an agent, and its answers',
    Contacts: 'The people an agent speaks with',
    Conversations: 'Lists, search, export and ratings',
    Drafts: 'What an agent is to become, and what it was',
    Email: 'The mailbox of an agent',
    Evaluations: 'Questions with expected answers',
    Health: 'Whether the service is available',
    Helpdesk: 'Tickets, teams and takeover',
    Inbox: 'The tickets of all agents',
    Insights: 'Figures, topics and unanswered questions',
    Members: 'Who works with the account, and as what',
    Messaging: 'The messaging channel and its templates',
    Playground: 'Answers that are tried out',
    'Answer tests': 'Conversations that an agent is tested with before a change goes live',
    Privacy: 'Retention, erasure and export of what is known of a person',
    Procedures: 'Ordered steps for known situations',
    'Sign-in': 'How members of the account get in, from a browser',
    Sources: 'What an agent answers from',
    'Version 1': 'The older interface',
    Webhooks: 'What channels send to the service',
  },
})
