import Type from 'typebox'
import { Exact, endpointsOf } from '../../platform/http/contract.ts'
import { ConversationInsights, Day, Insights } from './days/schema.ts'

const endpoint = endpointsOf('Insights')

export const readInsights = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/insights',
  name: 'readInsights',
  summary: 'Read the figures of an agent, in total and by day',
  description:
    'Days are in UTC, at most 366, including both ends; without dates, the last 30 are returned. Conversations, sentiments, topics, sources, countries and deflection count on the day on which the conversation began; messages, ratings, unanswered questions and credits on their own day. The figures are updated within seconds of a change, even for past days.',
  scope: 'conversations:read',
  query: Exact({ startDate: Type.Optional(Day), endDate: Type.Optional(Day) }),
  success: { status: 200, schema: Insights },
  errors: ['VALIDATION_INVALID_DATE_RANGE'],
})

export const readConversationInsights = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations/{conversationId}/insights',
  name: 'readConversationInsights',
  summary: 'Read the sentiment and the topics of a conversation',
  description:
    'Works for a conversation of any source. A conversation is analysed when it has ended or been idle for half an hour (the first ten of an agent after a few seconds), and again after each change. Without a language model it has neither. No credits are used.',
  scope: 'conversations:read',
  success: { status: 200, schema: ConversationInsights },
})

export const analyseNow = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/insights/analyse',
  name: 'analyseNow',
  summary: 'Analyse the conversations of an agent now',
  description:
    'Conversations that have changed since their last analysis are analysed now, in the background, without waiting until they are idle. `conversations` is their number. No credits are used, but the model of the agent is called once for each.',
  scope: 'conversations:write',
  success: {
    status: 202,
    schema: Exact({ data: Exact({ conversations: Type.Integer({ minimum: 0 }) }) }),
  },
})
