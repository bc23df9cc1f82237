import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import helmet from 'helmet'

/**
 * Returns the security headers of all responses. Helmet sets them on a response, which keeps a list of its own as long as
 * it is open; copying the headers from one response instead keeps thousands of streams smaller.
 */
export function securityHeaders(isSecure: boolean): OutgoingHttpHeaders {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  // Over plain HTTP, such as on a local network, the browser must not be told to upgrade requests to HTTPS.
  const upgradeInsecureRequests = isSecure ? [] : null
  const set = helmet({
    contentSecurityPolicy: { directives: { upgradeInsecureRequests } },
    strictTransportSecurity: isSecure,
  })
  set(response.req, response, () => {})
  return response.getHeaders()
}
