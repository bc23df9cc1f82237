import Type from 'typebox'
import { Exact, endpoint } from '../http/contract.ts'
import { ConversationInsights, Day, Insights } from './days/schema.ts'

const Id = Type.String({ minLength: 1 })
const tag = 'Insights'

export const readInsights = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/insights',
  name: 'readInsights',
  tag,
  summary: 'Read the figures of an agent, in total and by day',
  description:
    'Days are UTC, both ends included, at most 366; without dates the last 30. Conversations, sentiments, topics, sources, countries and deflection count on the day on which the conversation began; messages, ratings, unanswered questions and credits on their own day. The figures follow a change, also of long ago, within seconds.',
  scope: 'conversations:read',
  params: Exact({ agentId: Id }),
  query: Exact({ startDate: Type.Optional(Day), endDate: Type.Optional(Day) }),
  success: { status: 200, schema: Insights },
  errors: ['VALIDATION_INVALID_DATE_RANGE'],
})

export const readConversationInsights = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations/{conversationId}/insights',
  name: 'readConversationInsights',
  tag,
  summary: 'Read the sentiment and the topics of a conversation',
  description:
    'Of a conversation of any source. It is looked at when it has ended or been idle for half an hour (the first ten of an agent: for a moment), and again after something has happened in it. No credits are used.',
  scope: 'conversations:read',
  params: Exact({ agentId: Id, conversationId: Id }),
  success: { status: 200, schema: ConversationInsights },
})

export const analyseNow = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/insights/analyse',
  name: 'analyseNow',
  tag,
  summary: 'Have the conversations of an agent looked at now',
  description:
    'Does not wait until conversations are idle: those in which something has happened since they were last looked at are looked at now, in the background. `conversations` says how many. No credits are used, but the model of the agent is called once for each.',
  scope: 'conversations:write',
  params: Exact({ agentId: Id }),
  success: {
    status: 202,
    schema: Exact({ data: Exact({ conversations: Type.Integer({ minimum: 0 }) }) }),
  },
})
