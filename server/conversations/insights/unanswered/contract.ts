import Type from 'typebox'
import { Answer, Question, Source } from '../../../knowledge/sources/schema.ts'
import { Cursor, Exact, endpointsOf, Limit, OneOf, Page } from '../../../platform/http/contract.ts'
import { groupStatuses, UnansweredGroup } from './schema.ts'

const endpoint = endpointsOf('Insights')

export const listUnanswered = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/insights/unanswered',
  name: 'listUnanswered',
  summary: 'List the unanswered questions of an agent',
  description:
    'Equal questions are grouped, with an embedding model also those that ask the same in other words; most frequent first. They are found when a conversation has ended or been idle for half an hour. A question is unanswered if the outcome of its answer is `not_found` or `partly`, or if a model answered without a suitable source. When sources were added or changed, the newest open questions are asked again, by the search and without credits; a question that is answered now gets the status answered.',
  scope: 'conversations:read',
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
  summary: 'Answer an unanswered question',
  description:
    'The answer becomes a source of questions and answers. A second answer changes the source of the first. If the agent still does not find it after the training, or the same question remains unanswered again, the group is reopened. What the agent has said itself, such as that it found nothing, is refused as an answer.',
  scope: 'sources:write',
  body: Exact({ answer: Answer, question: Type.Optional(Question) }),
  success: { status: 201, schema: Source },
  errors: ['SOURCE_NOT_FOUND', 'SOURCE_SIZE_LIMIT_EXCEEDED'],
})

export const updateUnanswered = endpoint({
  method: 'PATCH',
  path: '/agents/{agentId}/insights/unanswered/{groupId}',
  name: 'updateUnanswered',
  summary: 'Dismiss or reopen an unanswered question',
  scope: 'conversations:write',
  body: Exact({ status: OneOf(['open', 'dismissed']) }),
  success: { status: 200, schema: UnansweredGroup },
})
