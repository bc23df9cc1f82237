import Type from 'typebox'
import { EpochSeconds, Exact, endpoint, Nullable } from '../../platform/http/contract.ts'

export const listSourceCitations = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/sources/{sourceId}/citations',
  name: 'listSourceCitations',
  tag: 'Sources',
  summary: 'List the answers that cite a source',
  description: 'Newest first, at most 50, from the newest messages of the agent.',
  scope: 'conversations:read',
  params: Exact({ agentId: Type.String({ minLength: 1 }), sourceId: Type.String({ minLength: 1 }) }),
  success: {
    status: 200,
    schema: Exact({
      data: Type.Array(
        Exact({
          conversationId: Type.String(),
          messageId: Type.String(),
          title: Nullable(Type.String({ description: 'Of the conversation' })),
          quote: Nullable(Type.String({ description: 'The part of the source that the answer is based on' })),
          createdAt: EpochSeconds,
        }),
      ),
      searchedMessages: Type.Integer({ minimum: 0, description: 'How many messages were searched' }),
    }),
  },
})
