import Type from 'typebox'
import { Exact } from '../../platform/http/contract.ts'
import { rawEndpoint } from '../../platform/http/raw-endpoint.ts'

export const downloadAttachment = rawEndpoint({
  method: 'GET',
  path: '/attachments/{token}',
  name: 'downloadAttachment',
  summary: 'A file of a conversation or ticket, as a download',
  description: 'API responses contain such URLs. They expire.',
  access: 'link',
  params: Exact({ token: Type.String() }),
  success: { status: 200, description: 'The file', types: 'any' },
  unknown: 'RESOURCE_NOT_FOUND',
})
