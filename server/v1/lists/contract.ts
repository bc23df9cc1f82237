import Type from 'typebox'
import { Exact, IsoTime, Nullable, OneOf } from '../../platform/http/contract.ts'
import { PageQuery, version1 } from '../schema.ts'

/** service-api, "Version 1 resources". */
const Conversation = Exact({
  id: Type.String(),
  chatbot_id: Type.String(),
  created_at: IsoTime,
  updated_at: IsoTime,
  source: Type.String(),
  messages: Type.Array(
    Exact({
      id: Type.String(),
      role: OneOf(['user', 'assistant']),
      content: Type.String(),
      type: Type.String(),
    }),
  ),
})

const Lead = Exact({
  id: Type.String(),
  name: Nullable(Type.String()),
  email: Nullable(Type.String()),
  phone: Nullable(Type.String()),
  created_at: IsoTime,
  chatbot_id: Type.String(),
  account_id: Type.String(),
})

const errors = ['AGENT_NOT_FOUND', 'VALIDATION_INVALID_DATE_RANGE'] as const

export const listConversations = version1({
  method: 'GET',
  path: '/get-conversations',
  name: 'listConversations',
  tag: 'Lists',
  summary: 'List conversations of every source with their messages',
  scope: 'conversations:read',
  query: Exact({ ...PageQuery, filteredSources: Type.Optional(Type.String({ maxLength: 2_000 })) }),
  success: { status: 200, schema: Exact({ data: Type.Array(Conversation) }) },
  errors,
})

export const listLeads = version1({
  method: 'GET',
  path: '/get-leads',
  name: 'listLeads',
  tag: 'Lists',
  summary: 'List collected leads',
  scope: 'conversations:read',
  query: Exact(PageQuery),
  success: { status: 200, schema: Exact({ collectedCustomers: Type.Array(Lead) }) },
  errors,
})
