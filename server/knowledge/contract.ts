import Type from 'typebox'
import { CommaList, Cursor, Exact, endpoint, Limit, OneOf, Page } from '../http/contract.ts'
import { MAX_FILE_BYTES, MAX_JSON_BYTES } from './limits.ts'
import {
  CreateSource,
  FileFields,
  FileUpdateFields,
  pageStatuses,
  Source,
  SourcesSummary,
  sourceTypes,
  UpdatePage,
  UpdateSource,
  Page as WebPage,
} from './schema.ts'

const Id = Type.String({ minLength: 1 })
const agentParams = Exact({ agentId: Id })
const sourceParams = Exact({ agentId: Id, sourceId: Id })
const tag = 'Sources'

const uploadErrors = ['SOURCE_UNSUPPORTED_TYPE', 'SOURCE_SIZE_LIMIT_EXCEEDED'] as const

export const listSources = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/sources',
  name: 'listSources',
  unknownFields: 'ignored',
  tag,
  summary: 'List the sources of an agent',
  description: 'Newest first.',
  scope: 'sources:read',
  params: agentParams,
  query: Exact({
    cursor: Type.Optional(Cursor),
    limit: Limit,
    type: Type.Optional(CommaList('only these types', sourceTypes)),
    name: Type.Optional(Type.String({ maxLength: 200, description: 'Part of the name, in any case' })),
  }),
  success: { status: 200, schema: Page(Source) },
  errors: ['AGENT_NOT_FOUND', 'VALIDATION_INVALID_CURSOR'],
})

export const readSummary = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/sources/summary',
  name: 'readSourcesSummary',
  unknownFields: 'ignored',
  tag,
  summary: 'Count and size of the sources by type',
  scope: 'sources:read',
  params: agentParams,
  success: { status: 200, schema: SourcesSummary },
  errors: ['AGENT_NOT_FOUND'],
})

export const createSource = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/sources',
  name: 'createSource',
  unknownFields: 'ignored',
  audit: 'source.create',
  tag,
  summary: 'Add a text, questions and answers, a link, a page of the connected workspace or a file',
  description:
    'It trains on its own: poll its status. Files (pdf, docx, doc, xlsx, pptx, txt, md, html, csv; at most 20 MB) come as multipart/form-data with the fields `name` and `file`.',
  scope: 'sources:write',
  params: agentParams,
  body: CreateSource,
  multipart: { fields: FileFields, file: 'file', maxBytes: MAX_FILE_BYTES },
  bodyLimit: MAX_JSON_BYTES,
  success: { status: 201, schema: Source },
  errors: ['AGENT_NOT_FOUND', 'SOURCE_DUPLICATE', 'PAGES_NOT_CONNECTED', ...uploadErrors],
})

export const readSource = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/sources/{sourceId}',
  name: 'readSource',
  unknownFields: 'ignored',
  tag,
  summary: 'Read a source',
  scope: 'sources:read',
  params: sourceParams,
  success: { status: 200, schema: Source },
  errors: ['AGENT_NOT_FOUND', 'SOURCE_NOT_FOUND'],
})

export const updateSource = endpoint({
  method: 'PUT',
  path: '/agents/{agentId}/sources/{sourceId}',
  name: 'updateSource',
  unknownFields: 'ignored',
  audit: 'source.update',
  tag,
  summary: 'Change a source',
  description:
    'Fields of its type, each optional, as in its creation but for type and url; a file as multipart/form-data with `name`, `file` or both. After a change of content the earlier version answers until the new one is live, also when the new one fails.',
  scope: 'sources:write',
  params: sourceParams,
  body: UpdateSource,
  multipart: { fields: FileUpdateFields, file: 'file', maxBytes: MAX_FILE_BYTES },
  bodyLimit: MAX_JSON_BYTES,
  success: { status: 200, schema: Source },
  errors: [
    'AGENT_NOT_FOUND',
    'SOURCE_NOT_FOUND',
    'SOURCE_PENDING_DELETION',
    'SOURCE_DUPLICATE',
    ...uploadErrors,
  ],
})

export const deleteSource = endpoint({
  method: 'DELETE',
  path: '/agents/{agentId}/sources/{sourceId}',
  name: 'deleteSource',
  unknownFields: 'ignored',
  audit: 'source.delete',
  tag,
  summary: 'Delete a source',
  description:
    'It is gone from answers at once. A large one has the status toBeDeleted until all of it is removed; that goes on also when the connection ends.',
  scope: 'sources:write',
  params: sourceParams,
  success: { status: 200, schema: Source },
  errors: ['AGENT_NOT_FOUND', 'SOURCE_NOT_FOUND', 'SOURCE_ALREADY_PENDING_DELETION'],
})

export const listPages = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/sources/{sourceId}/pages',
  name: 'listSourcePages',
  tag,
  summary: 'List the pages of a crawl or sitemap source',
  description: 'In the order in which they were found. Other sources have none.',
  scope: 'sources:read',
  params: sourceParams,
  query: Exact({ cursor: Type.Optional(Cursor), limit: Limit, status: Type.Optional(OneOf(pageStatuses)) }),
  success: { status: 200, schema: Page(WebPage) },
  errors: ['AGENT_NOT_FOUND', 'SOURCE_NOT_FOUND', 'VALIDATION_INVALID_CURSOR'],
})

export const updatePage = endpoint({
  method: 'PATCH',
  path: '/agents/{agentId}/sources/{sourceId}/pages/{pageId}',
  name: 'updateSourcePage',
  audit: 'source.update',
  tag,
  summary: 'Exclude a page, or include it again',
  description:
    'It holds for later crawls, too. A page that was never read is read by a crawl that this starts.',
  scope: 'sources:write',
  params: Exact({ agentId: Id, sourceId: Id, pageId: Id }),
  body: UpdatePage,
  success: { status: 200, schema: WebPage },
  errors: [
    'AGENT_NOT_FOUND',
    'SOURCE_NOT_FOUND',
    'RESOURCE_NOT_FOUND',
    'SOURCE_PENDING_DELETION',
    'SOURCE_SIZE_LIMIT_EXCEEDED',
  ],
})
