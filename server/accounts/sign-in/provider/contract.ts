import { rawEndpoint } from '../../../platform/http/raw-endpoint.ts'

/** The path below which the sign-in library creates its URLs. */
export const AUTH_PATH = '/api/auth'
/** The page of the workspace where people sign in; `error` in its query says why a provider did not let them in. */
export const SIGN_IN_PAGE = '/sign-in'
/** The provider's id in the database and in the callback URL. */
export const PROVIDER = 'oidc'

export const returnFromProvider = rawEndpoint({
  method: 'GET',
  path: `${AUTH_PATH}/callback/${PROVIDER}`,
  name: 'returnFromProvider',
  summary: 'Receive the browser from the identity provider after a sign-in',
  description:
    'The response sets the cookies of the session and redirects to the workspace, or to the sign-in page, which says what went wrong.',
  access: 'anyone',
  success: { status: 302, description: 'A redirect to the workspace', types: [] },
  errors: ['ROUTE_NOT_FOUND', 'RATE_LIMIT_TOO_MANY_REQUESTS'],
})
