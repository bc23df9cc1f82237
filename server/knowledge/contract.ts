import Type from 'typebox'
import {
  CommaList,
  Cursor,
  Exact,
  endpointsOf,
  Limit,
  Nullable,
  OneOf,
  Page,
} from '../platform/http/contract.ts'
import { EmbeddingUse, VectorProblem } from './search/schema.ts'
import {
  CreateSource,
  FileFields,
  FileUpdateFields,
  MAX_FILE_BYTES,
  MAX_JSON_BYTES,
  pageStatuses,
  Source,
  SourcesSummary,
  sourceTypes,
  UpdatePage,
  UpdateSource,
  Page as WebPage,
} from './sources/schema.ts'

const Id = Type.String({ minLength: 1 })
const endpoint = endpointsOf('Sources')

const uploadErrors = ['SOURCE_UNSUPPORTED_TYPE', 'SOURCE_SIZE_LIMIT_EXCEEDED'] as const

export const listSources = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/sources',
  name: 'listSources',
  unknownFields: 'ignored',
  summary: 'List the sources of an agent',
  description: 'Newest first.',
  scope: 'sources:read',
  query: Exact({
    cursor: Type.Optional(Cursor),
    limit: Limit,
    type: Type.Optional(CommaList('only these types', sourceTypes)),
    name: Type.Optional(
      Type.String({ maxLength: 200, description: 'A part of the name, not case-sensitive' }),
    ),
  }),
  success: { status: 200, schema: Page(Source) },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const readSummary = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/sources/summary',
  name: 'readSourcesSummary',
  unknownFields: 'ignored',
  summary: 'Count and size of the sources by type',
  scope: 'sources:read',
  success: { status: 200, schema: SourcesSummary },
})

export const createSource = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/sources',
  name: 'createSource',
  unknownFields: 'ignored',
  audit: 'source.create',
  summary: 'Add a text, questions and answers, a link, a page of the connected workspace or a file',
  description:
    'The source is trained automatically: poll its status. Send files (pdf, docx, doc, xlsx, pptx, txt, md, html, csv, png, jpg, webp, tiff; at most 20 MB) as multipart/form-data with the fields `name` and `file`.',
  scope: 'sources:write',
  body: CreateSource,
  multipart: { fields: FileFields, file: 'file', maxBytes: MAX_FILE_BYTES },
  bodyLimit: MAX_JSON_BYTES,
  success: { status: 201, schema: Source },
  errors: ['SOURCE_DUPLICATE', 'PAGES_NOT_CONNECTED', ...uploadErrors],
})

export const readSource = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/sources/{sourceId}',
  name: 'readSource',
  unknownFields: 'ignored',
  summary: 'Read a source',
  scope: 'sources:read',
  success: { status: 200, schema: Source },
})

export const updateSource = endpoint({
  method: 'PUT',
  path: '/agents/{agentId}/sources/{sourceId}',
  name: 'updateSource',
  unknownFields: 'ignored',
  audit: 'source.update',
  summary: 'Change a source',
  description:
    'Accepts the fields of its creation, each optional, except type and url; send a file as multipart/form-data with `name`, `file` or both. After a change of content, the earlier version remains in use until the new one is live, also if the new one fails.',
  scope: 'sources:write',
  body: UpdateSource,
  multipart: { fields: FileUpdateFields, file: 'file', maxBytes: MAX_FILE_BYTES },
  bodyLimit: MAX_JSON_BYTES,
  success: { status: 200, schema: Source },
  errors: ['SOURCE_PENDING_DELETION', 'SOURCE_DUPLICATE', ...uploadErrors],
})

export const deleteSource = endpoint({
  method: 'DELETE',
  path: '/agents/{agentId}/sources/{sourceId}',
  name: 'deleteSource',
  unknownFields: 'ignored',
  audit: 'source.delete',
  summary: 'Delete a source',
  description:
    'The source is removed from answers at once. A large source has the status toBeDeleted until all of it is deleted, which continues even if the connection ends.',
  scope: 'sources:write',
  success: { status: 200, schema: Source },
  errors: ['SOURCE_ALREADY_PENDING_DELETION'],
})

export const listPages = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/sources/{sourceId}/pages',
  name: 'listSourcePages',
  summary: 'List the pages of a crawl or sitemap source',
  description: 'Pages are in the order in which they were found. Other sources have none.',
  scope: 'sources:read',
  query: Exact({ cursor: Type.Optional(Cursor), limit: Limit, status: Type.Optional(OneOf(pageStatuses)) }),
  success: { status: 200, schema: Page(WebPage) },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const updatePage = endpoint({
  method: 'PATCH',
  path: '/agents/{agentId}/sources/{sourceId}/pages/{pageId}',
  name: 'updateSourcePage',
  audit: 'source.update',
  summary: 'Exclude a page, or include it again',
  description:
    'The setting also applies to later crawls. A page that was never read is read by a crawl, which is started now.',
  scope: 'sources:write',
  body: UpdatePage,
  success: { status: 200, schema: WebPage },
  errors: ['SOURCE_PENDING_DELETION', 'SOURCE_SIZE_LIMIT_EXCEEDED'],
})

const Excluded = Type.Boolean({ description: 'Whether it is left out of every search' })
const PinnedFor = Type.Array(Type.String(), {
  description: 'The questions for which it comes first',
})

const Chunk = Exact({
  id: Type.String(),
  ordinal: Type.Integer({ minimum: 0, description: 'Its position in the document or page' }),
  headingPath: Type.Array(Type.String()),
  page: Nullable(Type.Integer({ description: 'The page of a file with pages' })),
  text: Type.String(),
  questions: Type.Array(Type.String()),
  pageId: Nullable(Type.String()),
  title: Nullable(Type.String()),
  url: Nullable(Type.String()),
  excluded: Excluded,
  pinnedFor: PinnedFor,
})

const Share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description })

export const listChunks = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/sources/{sourceId}/chunks',
  name: 'listSourceChunks',
  summary: 'List the passages of a source',
  description:
    'Returns the live passages, which together contain the whole text, in its order, including those that are excluded; `pageId` selects one page of a website.',
  scope: 'sources:read',
  query: Exact({
    cursor: Type.Optional(Cursor),
    limit: Limit,
    pageId: Type.Optional(Type.String({ format: 'uuid' })),
  }),
  success: {
    status: 200,
    schema: Page(Chunk),
  },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const updateChunk = endpoint({
  method: 'PATCH',
  path: '/agents/{agentId}/sources/{sourceId}/chunks/{chunkId}',
  name: 'updateSourceChunk',
  audit: 'source.update',
  summary: 'Exclude a passage from answers, or pin it to questions',
  description:
    'Takes effect at once, for every search: answers in all channels, the playground, evaluations and the retrieval test. An excluded passage is never found. A pinned one comes first for each question that has all words of one of `pinnedFor`, in whatever form, stop words aside; only a stored question and answer with the same question comes before it. Exclusion wins. The choice belongs to the text of the passage with its headings: it applies to all passages of the source with the same ones, a later training keeps it, and a passage that was changed is a new one without it. An agent has at most 200 pins and 1,000 excluded passages.',
  scope: 'sources:write',
  body: Exact({
    excluded: Type.Optional(Type.Boolean()),
    pinnedFor: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 500, pattern: '\\S' }), {
        maxItems: 20,
        description: 'Replaces the questions that it is pinned to',
      }),
    ),
  }),
  success: { status: 200, schema: Chunk },
  errors: ['SOURCE_PENDING_DELETION'],
})

export const testRetrieval = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/retrieval-test',
  name: 'testRetrieval',
  summary: 'Test what a question finds, and why',
  description:
    'Returns passages in the order in which an answer would get them, with the evidence for each; excluded passages are not among them. With `expectedSourceId`, the response says why that source is not offered. The question is treated as the first of a conversation. No credits are used.',
  scope: 'sources:read',
  body: Exact({
    question: Type.String({ minLength: 1, maxLength: 10_000 }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 24, default: 8 })),
    expectedSourceId: Type.Optional(Id),
  }),
  success: {
    status: 200,
    schema: Exact({
      confidence: Share('How much of the question, by the rarity of its words, the best passages hold'),
      isFound: Type.Boolean({ description: 'Whether that is enough to answer from them' }),
      isIndexing: Type.Boolean({
        description: 'Whether texts are still being indexed, so that some are not found yet',
      }),
      reranked: Type.Boolean({ description: 'Whether a reranking model determined the order' }),
      vectorProblem: VectorProblem,
      embedding: Nullable(EmbeddingUse),
      passages: Type.Array(
        Exact({
          place: Type.Integer(),
          placeBeforeReranking: Type.Integer(),
          chunkId: Type.String(),
          sourceId: Type.String(),
          sourceName: Nullable(Type.String()),
          url: Nullable(Type.String()),
          headingPath: Type.Array(Type.String()),
          page: Nullable(Type.Integer()),
          text: Type.String(),
          score: Share('Its place in figures: at most that of the passage before it'),
          isFirst: Type.Boolean({
            description: 'Whether it comes first because this question was stored with it or pinned to it',
          }),
          pinnedFor: PinnedFor,
          signals: Exact({
            words: Nullable(
              Type.Integer({ description: 'Its place by words; null: it has none of the rare ones' }),
            ),
            vectors: Nullable(
              Type.Integer({
                description:
                  'Its place by the embedding model; null: it is not among the nearest, or there is none',
              }),
            ),
          }),
        }),
      ),
      missing: Nullable(
        Exact(
          {
            reason: OneOf(['not_live', 'no_text', 'indexing', 'no_signal', 'further_down', 'unlikely']),
            sentence: Type.String(),
            place: Nullable(
              Type.Integer({ description: 'The rank of its best passage among all that were found' }),
            ),
          },
          { description: 'Why the expected source is not offered; null: it is offered, or none is expected' },
        ),
      ),
    }),
  },
  errors: ['SOURCE_NOT_FOUND'],
})
