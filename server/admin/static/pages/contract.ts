import Type from 'typebox'
import { Exact } from '../../../platform/http/contract.ts'
import { rawEndpoint } from '../../../platform/http/raw-endpoint.ts'

export const listDocs = rawEndpoint({
  method: 'GET',
  path: '/docs',
  name: 'listDocs',
  summary: 'The contents of the documentation',
  access: 'anyone',
  success: { status: 200, description: 'The page', types: ['text/html'] },
  duringMaintenance: 'served',
})

export const showDoc = rawEndpoint({
  method: 'GET',
  path: '/docs/{folder}/{file}',
  name: 'showDoc',
  summary: 'A page of the documentation',
  access: 'anyone',
  params: Exact({ folder: Type.String(), file: Type.String() }),
  success: { status: 200, description: 'The page', types: ['text/html'] },
  unknown: 'ROUTE_NOT_FOUND',
  duringMaintenance: 'served',
})

export const showStatus = rawEndpoint({
  method: 'GET',
  path: '/status',
  name: 'showStatus',
  summary: 'Whether the service works, and a chat with the demo agent',
  access: 'anyone',
  success: { status: 200, description: 'The page', types: ['text/html'] },
  duringMaintenance: 'served',
})

export const readOpenApi = rawEndpoint({
  method: 'GET',
  path: '/openapi.json',
  name: 'readOpenApi',
  summary: 'The OpenAPI document',
  access: 'anyone',
  success: { status: 200, description: 'The document', types: ['application/json'] },
  duringMaintenance: 'served',
})
