import Type from 'typebox'
import {
  Cursor,
  Exact,
  endpointsOf,
  IsoTime,
  Limit,
  Nullable,
  Success,
} from '../../platform/http/contract.ts'
import { BaseUrl } from '../../platform/http/server/base-url.ts'

const params = Exact({ agentId: Type.String({ minLength: 1 }) })
const endpoint = endpointsOf('Sources')
const path = '/agents/{agentId}/pages-connection'

export const connectPages = endpoint({
  method: 'PUT',
  path,
  name: 'connectPages',
  audit: 'connection.put',
  summary: 'Connect a workspace of pages',
  description:
    'Its pages can then be sources of the type notionPage. The token is stored encrypted and never returned; it replaces an earlier one. The token is tested first: one that the workspace rejects is not stored.',
  scope: 'sources:write',
  params,
  body: Exact({
    accessToken: Type.String({
      minLength: 1,
      maxLength: 1_000,
      pattern: '^[\\x21-\\x7e]+$',
      refusal: 'Must be a token without spaces.',
    }),
    baseUrl: Type.Optional(BaseUrl),
  }),
  success: { status: 200, schema: Success },
  errors: ['PAGES_CONNECTION_FAILED'],
})

export const readPagesConnection = endpoint({
  method: 'GET',
  path,
  name: 'readPagesConnection',
  summary: 'Read the connection to a workspace of pages',
  scope: 'sources:read',
  params,
  success: {
    status: 200,
    schema: Exact({
      connected: Type.Boolean(),
      baseUrl: Nullable(Type.String({ description: 'null: the public address of the workspace' })),
    }),
  },
})

export const disconnectPages = endpoint({
  method: 'DELETE',
  path,
  name: 'disconnectPages',
  audit: 'connection.delete',
  summary: 'Disconnect the workspace',
  description: 'Sources created from its pages stay as they are, but are no longer kept current.',
  scope: 'sources:write',
  params,
  success: { status: 200, schema: Success },
})

export const listConnectedPages = endpoint({
  method: 'GET',
  path: `${path}/pages`,
  name: 'listConnectedPages',
  summary: 'List the pages that the connection may read',
  description: 'Most recently edited first. The total is not known.',
  scope: 'sources:read',
  params,
  query: Exact({
    cursor: Type.Optional(Cursor),
    limit: Limit,
    query: Type.Optional(Type.String({ maxLength: 200, description: 'Words from the title' })),
  }),
  success: {
    status: 200,
    schema: Exact({
      data: Type.Array(
        Exact({
          id: Type.String({ description: 'The pageId of a source' }),
          title: Nullable(Type.String()),
          url: Nullable(Type.String()),
          updatedAt: Nullable(IsoTime),
        }),
      ),
      pagination: Exact({ cursor: Nullable(Type.String()), hasMore: Type.Boolean() }),
    }),
  },
  errors: ['VALIDATION_INVALID_CURSOR', 'PAGES_NOT_CONNECTED', 'PAGES_CONNECTION_FAILED'],
})
