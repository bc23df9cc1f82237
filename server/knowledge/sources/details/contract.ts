import Type from 'typebox'
import { Exact, endpoint, IsoTime, Nullable, OneOf } from '../../../http/contract.ts'
import { Source } from '../schema.ts'

const Id = Type.String({ minLength: 1 })
const params = Exact({ agentId: Id, sourceId: Id })
const tag = 'Sources'
const path = '/agents/{agentId}/sources/{sourceId}'

export const readSourceText = endpoint({
  method: 'GET',
  path: `${path}/text`,
  name: 'readSourceText',
  tag,
  summary: 'Read the text of a source as one piece',
  description:
    'What was extracted from it, with its headings as Markdown: the text that answers are made from now. `pageId` leaves the text of one page of a website.',
  scope: 'sources:read',
  params,
  query: Exact({ pageId: Type.Optional(Type.String({ format: 'uuid' })) }),
  success: {
    status: 200,
    schema: Exact({
      text: Type.String(),
      isWhole: Type.Boolean({ description: 'false: there is more of it than one response holds' }),
    }),
  },
})

export const readSourceContent = endpoint({
  method: 'GET',
  path: `${path}/content`,
  name: 'readSourceContent',
  tag,
  summary: 'Read what a source was given',
  description:
    'The content of a text, or the questions and the answer of a source of the type qna, as they were sent and can be changed. All members are null for the other types.',
  scope: 'sources:read',
  params,
  success: {
    status: 200,
    schema: Exact({
      content: Nullable(Type.String()),
      questions: Nullable(Type.Array(Type.String())),
      answer: Nullable(Type.String()),
    }),
  },
})

export const listTrainings = endpoint({
  method: 'GET',
  path: `${path}/trainings`,
  name: 'listSourceTrainings',
  tag,
  summary: 'List what became of the last trainings of a source',
  description: 'Newest first, at most 20, with the weekly looks at its origin.',
  scope: 'sources:read',
  params,
  success: {
    status: 200,
    schema: Exact({
      data: Type.Array(
        Exact({
          at: IsoTime,
          outcome: OneOf(['live', 'unchanged', 'failed', 'removed'], {
            description: '`removed`: the origin has taken the content away',
          }),
          reason: Nullable(Type.String({ description: 'Why it failed or was removed' })),
          bytes: Nullable(Type.Integer({ minimum: 0, description: 'Bytes of training text that went live' })),
        }),
      ),
    }),
  },
})

export const refreshSource = endpoint({
  method: 'POST',
  path: `${path}/refresh`,
  name: 'refreshSource',
  audit: 'source.update',
  tag,
  summary: 'Train a source again',
  description:
    'A website, a link or a connected page is read again at its origin. What is live answers until then. Nothing happens to a source that is being processed.',
  scope: 'sources:write',
  params,
  success: { status: 200, schema: Source },
  errors: ['SOURCE_PENDING_DELETION'],
})
