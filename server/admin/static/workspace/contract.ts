import Type from 'typebox'
import { Exact } from '../../../platform/http/contract.ts'
import { rawEndpoint } from '../../../platform/http/raw-endpoint.ts'

export const showWorkspace = rawEndpoint({
  method: 'GET',
  path: '/',
  // The router in web/ decides what each of them shows.
  otherPaths: [
    '/setup',
    '/sign-in',
    '/invite',
    '/invite/*',
    '/forgot',
    '/reset',
    '/reset/*',
    '/agents',
    '/agents/*',
    '/mailbox-sign-in',
    '/workspace',
    '/workspace/*',
  ],
  name: 'showWorkspace',
  summary: 'The workspace: one document at the path of each page',
  access: 'anyone',
  success: { status: 200, description: 'The document', types: ['text/html'] },
  duringMaintenance: 'served',
})

export const loadWorkspaceAsset = rawEndpoint({
  method: 'GET',
  path: '/workspace-assets/{name}',
  name: 'loadWorkspaceAsset',
  summary: 'A script, a style sheet or a font of the workspace',
  description: 'The name contains the hash of the content.',
  access: 'anyone',
  params: Exact({ name: Type.String() }),
  success: { status: 200, description: 'The file', types: ['text/javascript', 'text/css', 'font/woff2'] },
  unknown: 'ROUTE_NOT_FOUND',
  duringMaintenance: 'served',
})
