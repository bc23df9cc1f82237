import Type from 'typebox'
import { Exact } from '../../platform/http/contract.ts'
import { rawEndpoint } from '../../platform/http/raw-endpoint.ts'

export const openSourceFile = rawEndpoint({
  method: 'GET',
  path: '/source-files/{token}',
  name: 'openSourceFile',
  summary: 'The uploaded file of a source that an answer cites',
  description: 'Citations in answers contain such URLs. They expire after 26 hours.',
  access: 'link',
  params: Exact({ token: Type.String() }),
  success: {
    status: 200,
    description: 'The file',
    types: ['application/pdf', 'text/plain', 'application/octet-stream'],
  },
  unknown: 'RESOURCE_NOT_FOUND',
})
