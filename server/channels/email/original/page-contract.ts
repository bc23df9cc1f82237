import Type from 'typebox'
import { Exact } from '../../../platform/http/contract.ts'
import { rawEndpoint } from '../../../platform/http/raw-endpoint.ts'

export const showOriginal = rawEndpoint({
  method: 'GET',
  path: '/mail-originals/{token}',
  name: 'showOriginalMail',
  summary: 'The HTML of a mail, without anything that runs',
  description: 'API responses contain such URLs. They expire.',
  access: 'link',
  params: Exact({ token: Type.String() }),
  success: { status: 200, description: 'The page', types: ['text/html'] },
  unknown: 'RESOURCE_NOT_FOUND',
})
