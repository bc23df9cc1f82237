import Type from 'typebox'
import { Exact } from '../../../platform/http/contract.ts'
import { rawEndpoint } from '../../../platform/http/raw-endpoint.ts'

const AgentParams = Exact({ agentId: Type.String() })

export const loadWidget = rawEndpoint({
  method: 'GET',
  path: '/widget.js',
  name: 'loadWidget',
  summary: 'The script that a website includes',
  access: 'anyone',
  success: { status: 200, description: 'The script', types: ['text/javascript'] },
  duringMaintenance: 'served',
})

export const loadWidgetAsset = rawEndpoint({
  method: 'GET',
  path: '/widget-assets/{name}',
  name: 'loadWidgetAsset',
  summary: 'A script or a style sheet of the chat page',
  description: 'The name contains the hash of the content.',
  access: 'anyone',
  params: Exact({ name: Type.String() }),
  success: { status: 200, description: 'The file', types: ['text/javascript', 'text/css'] },
  unknown: 'ROUTE_NOT_FOUND',
  duringMaintenance: 'served',
})

export const showChat = rawEndpoint({
  method: 'GET',
  path: '/widget/{agentId}',
  name: 'showChat',
  summary: 'The chat page of a public agent, which the script shows in a frame',
  description:
    'Visitors read this page, so it is also the response for agents that are not public (404) and during maintenance (503).',
  access: 'anyone',
  params: AgentParams,
  success: { status: 200, description: 'The page', types: ['text/html'] },
  unknown: 'AGENT_NOT_FOUND',
  duringMaintenance: 'served',
  errors: ['RATE_LIMIT_TOO_MANY_REQUESTS'],
})

export const readLauncher = rawEndpoint({
  method: 'GET',
  path: '/widget/{agentId}/launcher.json',
  name: 'readLauncher',
  summary: 'Read the settings that the script needs before the chat is opened',
  access: 'anyone',
  params: AgentParams,
  query: Exact({
    languages: Type.Optional(
      Type.String({ description: 'The languages of the page and of the browser, comma-separated' }),
    ),
  }),
  success: { status: 200, description: 'The settings of the launcher', types: ['application/json'] },
  unknown: 'AGENT_NOT_FOUND',
  // The handler rejects the request itself, after setting the headers that let other sites read the error.
  duringMaintenance: 'served',
  errors: ['RATE_LIMIT_TOO_MANY_REQUESTS', 'SERVICE_UNDER_MAINTENANCE'],
})
