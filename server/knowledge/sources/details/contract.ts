import Type from 'typebox'
import { Exact, endpointsOf, IsoTime, Nullable, OneOf } from '../../../platform/http/contract.ts'
import { Source } from '../schema.ts'

const endpoint = endpointsOf('Sources')
const path = '/agents/{agentId}/sources/{sourceId}'

export const readSourcesHealth = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/sources/health',
  name: 'readSourcesHealth',
  summary: 'Read which sources the agent cannot answer from',
  description: 'Those that failed or have no text: the newest five, and how many there are.',
  scope: 'sources:read',
  success: {
    status: 200,
    schema: Exact({
      count: Type.Integer({ minimum: 0, description: 'All sources' }),
      size: Type.Integer({ minimum: 0, description: 'Bytes of training text in all of them' }),
      training: Type.Integer({ minimum: 0, description: 'Those that are being read' }),
      troubled: Type.Integer({ minimum: 0 }),
      nearLimit: Type.Optional(
        Exact(
          { passages: Type.Integer({ minimum: 0 }), limit: Type.Integer({ minimum: 0 }) },
          {
            description:
              'Present when the agent is near the size at which answers begin late on the embedded database while several customers write at once; PostgreSQL has no such limit',
          },
        ),
      ),
      data: Type.Array(
        Exact({
          id: Type.String(),
          name: Nullable(Type.String()),
          problem: OneOf(['failed', 'empty'], {
            description: '`failed`: it could not be read; `empty`: nothing in it can be read',
          }),
          reason: Nullable(Type.String({ description: 'Why it failed' })),
        }),
      ),
    }),
  },
})

export const readSourceText = endpoint({
  method: 'GET',
  path: `${path}/text`,
  name: 'readSourceText',
  summary: 'Read the whole text of a source',
  description:
    'Returns the live text that was extracted from the source, with its headings as Markdown. `pageId` selects one page of a website.',
  scope: 'sources:read',
  query: Exact({ pageId: Type.Optional(Type.String({ format: 'uuid' })) }),
  success: {
    status: 200,
    schema: Exact({
      text: Type.String(),
      isWhole: Type.Boolean({ description: 'false: the text is longer than one response can contain' }),
    }),
  },
})

export const readSourceContent = endpoint({
  method: 'GET',
  path: `${path}/content`,
  name: 'readSourceContent',
  summary: 'Read the submitted content of a source',
  description:
    'Returns the content of a text, or the questions and the answer of a source of the type qna, as they were sent. All members are null for the other types.',
  scope: 'sources:read',
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
  summary: 'List the last trainings of a source and their results',
  description: 'Newest first, at most 20, including the weekly checks.',
  scope: 'sources:read',
  success: {
    status: 200,
    schema: Exact({
      data: Type.Array(
        Exact({
          at: IsoTime,
          outcome: OneOf(['live', 'unchanged', 'failed', 'removed'], {
            description: '`removed`: the origin no longer has the content',
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
  summary: 'Train a source again',
  description:
    'A website, a link or a connected page is read again from its origin. The live version remains in use until then. A source that is being processed is not changed.',
  scope: 'sources:write',
  success: { status: 200, schema: Source },
  errors: ['SOURCE_PENDING_DELETION'],
})

export const readOnSource = endpoint({
  method: 'POST',
  path: `${path}/read-on`,
  name: 'readOnSource',
  audit: 'source.update',
  summary: 'Read the addresses of a website that seem to be without end',
  description:
    'A crawl stops reading addresses of one shape that lead to one another and say nothing new, such as those of a calendar, of filters or of sessions. `metadata.paused` of the source lists them, with an example and the number of pages that were left out. This reads them, now and in later crawls, up to the limit of the plan.',
  scope: 'sources:write',
  body: Exact({
    addresses: Type.String({
      minLength: 1,
      maxLength: 2_048,
      description: '`addresses` of a member of `metadata.paused`',
    }),
  }),
  success: { status: 200, schema: Source },
  errors: ['SOURCE_PENDING_DELETION'],
})
