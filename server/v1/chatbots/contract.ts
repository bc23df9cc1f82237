import Type, { type Static } from 'typebox'
import { agentStatuses, CreateAgent, UpdateAgent } from '../../agents/records/schema.ts'
import { IpRateLimits, SuggestedMessage } from '../../agents/settings/settings-schema.ts'
import { StylesChange } from '../../agents/settings/styles-schema.ts'
import { MAX_JSON_BYTES, UpdateSource } from '../../knowledge/sources/schema.ts'
import { Exact, IsoTime, OneOf } from '../../platform/http/contract.ts'
import { ChatbotId, Said, version1 } from '../schema.ts'

const tag = 'Chatbots'
const { name: Name } = CreateAgent.properties
const { content: SourceText } = UpdateSource.properties
const settings = UpdateAgent.properties
const limits = IpRateLimits.properties

export const createChatbot = version1({
  method: 'POST',
  path: '/create-chatbot',
  name: 'createChatbot',
  tag,
  summary: 'Create a chatbot, with its text',
  scope: 'agents:write',
  body: Exact({ chatbotName: Name, sourceText: SourceText }),
  bodyLimit: MAX_JSON_BYTES,
  success: { status: 200, schema: Exact({ chatbotId: Type.String() }) },
  errors: ['AGENT_NOT_FOUND', 'AGENT_LIMIT_REACHED', 'SOURCE_SIZE_LIMIT_EXCEEDED'],
})

const Chatbot = Exact({
  id: Type.String(),
  name: Type.String(),
  status: OneOf(agentStatuses),
  model: Type.String(),
  instructions: Type.String(),
  visibility: OneOf(['public', 'private']),
  created_at: IsoTime,
  updated_at: IsoTime,
})

export const listChatbots = version1({
  method: 'GET',
  path: '/get-chatbots',
  name: 'listChatbots',
  tag,
  summary: 'List all chatbots, newest first',
  scope: 'agents:read',
  success: { status: 200, schema: Exact({ chatbots: Type.Array(Chatbot) }) },
  errors: [],
})

export const deleteChatbot = version1({
  method: 'DELETE',
  path: '/delete-chatbot',
  name: 'deleteChatbot',
  tag,
  summary: 'Delete a chatbot with all its data',
  scope: 'agents:write',
  query: Exact({ chatbotId: ChatbotId }),
  success: { status: 200, schema: Said },
  errors: ['AGENT_NOT_FOUND'],
})

export const updateChatbotData = version1({
  method: 'POST',
  path: '/update-chatbot-data',
  name: 'updateChatbotData',
  audit: 'agent.update',
  tag,
  summary: 'Rename a chatbot and replace its text',
  scope: 'agents:write',
  body: Exact({ chatbotId: ChatbotId, chatbotName: Name, sourceText: SourceText }),
  bodyLimit: MAX_JSON_BYTES,
  success: { status: 200, schema: Exact({ chatbotId: Type.String() }) },
  errors: ['AGENT_NOT_FOUND', 'SOURCE_NOT_FOUND', 'SOURCE_SIZE_LIMIT_EXCEEDED'],
})

/** A text, or a suggestion as in version 2. */
const Suggestion = Type.Unsafe<string | Static<typeof SuggestedMessage>>({
  anyOf: [Type.String({ minLength: 1, maxLength: 500 }), SuggestedMessage],
})

/** Styles of the chat alone, as in version 1, or of both parts. */
const Styles = Type.Unsafe<Record<string, unknown> | null>({
  anyOf: [StylesChange.properties.chat, StylesChange],
})

export const updateChatbotSettings = version1({
  method: 'POST',
  path: '/update-chatbot-settings',
  name: 'updateChatbotSettings',
  audit: 'agent.update',
  tag,
  summary: 'Change the settings of a chatbot',
  scope: 'agents:write',
  body: Exact({
    chatbotId: ChatbotId,
    name: settings.name,
    instructions: settings.instructions,
    initialMessages: settings.initialMessages,
    suggestedMessages: Type.Optional(Type.Array(Suggestion, { maxItems: 50 })),
    visibility: settings.visibility,
    domains: settings.allowedDomains,
    ipLimit: Type.Optional(limits.limit),
    ipLimitTimeframe: Type.Optional(limits.timeframe),
    ipLimitMessage: Type.Optional(limits.message),
    model: settings.model,
    temp: settings.temp,
    styles: Type.Optional(Styles),
  }),
  success: { status: 200, schema: Exact({ chatbotId: Type.String(), message: Type.String() }) },
  errors: ['AGENT_NOT_FOUND'],
})
