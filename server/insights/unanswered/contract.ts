import Type from 'typebox'
import { Cursor, Exact, endpoint, Limit, OneOf, Page } from '../../http/contract.ts'
import { Answer, Question, Source } from '../../knowledge/sources/schema.ts'
import { groupStatuses, UnansweredGroup } from './schema.ts'

const Id = Type.String({ minLength: 1 })
const itemParams = Exact({ agentId: Id, groupId: Id })
const tag = 'Insights'

export const listUnanswered = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/insights/unanswered',
  name: 'listUnanswered',
  tag,
  summary: 'List the questions that an agent had nothing for',
  description:
    'Questions that ask the same are one item; what was asked most comes first. They are found when a conversation has ended or been idle for half an hour: the built-in responder declined, or a model answered without a source that fits.',
  scope: 'conversations:read',
  params: Exact({ agentId: Id }),
  query: Exact({
    status: OneOf(groupStatuses, { default: 'open' }),
    cursor: Type.Optional(Cursor),
    limit: Limit,
  }),
  success: { status: 200, schema: Page(UnansweredGroup) },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const answerUnanswered = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/insights/unanswered/{groupId}/answer',
  name: 'answerUnanswered',
  audit: 'source.create',
  tag,
  summary: 'Answer a question that the agent had nothing for',
  description:
    'It becomes a source of questions and answers. A second answer changes the source of the first. When the same is asked again in vain, the item opens again.',
  scope: 'sources:write',
  params: itemParams,
  body: Exact({ answer: Answer, question: Type.Optional(Question) }),
  success: { status: 201, schema: Source },
  errors: ['SOURCE_NOT_FOUND', 'SOURCE_SIZE_LIMIT_EXCEEDED'],
})

export const updateUnanswered = endpoint({
  method: 'PATCH',
  path: '/agents/{agentId}/insights/unanswered/{groupId}',
  name: 'updateUnanswered',
  tag,
  summary: 'Dismiss a question that the agent had nothing for, or open it again',
  scope: 'conversations:write',
  params: itemParams,
  body: Exact({ status: OneOf(['open', 'dismissed']) }),
  success: { status: 200, schema: UnansweredGroup },
})
