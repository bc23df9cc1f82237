import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

/** An OpenID provider for tests. It signs in the user in `person` without a prompt. */
export type OidcProvider = {
  issuer: string
  person: { sub: string; email: string; email_verified: boolean; name: string }
  /** Claims that override those of the id token. */
  forged: Record<string, unknown>
  /** The token response has no id token, as of a provider that only knows OAuth 2. */
  withoutIdToken: boolean
  close(): Promise<void>
}

export async function startOidcProvider(clientId: string): Promise<OidcProvider> {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  const nonces = new Map<string, string>()
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', provider.issuer)
    const send = (body: object): void => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
    }
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return send({
          issuer: provider.issuer,
          authorization_endpoint: `${provider.issuer}/authorize`,
          token_endpoint: `${provider.issuer}/token`,
          jwks_uri: `${provider.issuer}/keys`,
          userinfo_endpoint: `${provider.issuer}/userinfo`,
          id_token_signing_alg_values_supported: ['RS256'],
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
        })
      case '/userinfo':
        return send(provider.person)
      case '/keys':
        return send({ keys: [jwk] })
      case '/authorize': {
        const back = new URL(url.searchParams.get('redirect_uri') ?? '')
        const code = `code-${nonces.size}`
        nonces.set(code, url.searchParams.get('nonce') ?? '')
        back.searchParams.set('code', code)
        back.searchParams.set('state', url.searchParams.get('state') ?? '')
        return void response.writeHead(302, { location: back.href }).end()
      }
      case '/token': {
        let text = ''
        for await (const piece of request) text += piece
        const nonce = nonces.get(new URLSearchParams(text).get('code') ?? '')
        const idToken = await new SignJWT({ ...provider.person, nonce, ...provider.forged })
          .setProtectedHeader({ alg: 'RS256', kid: 'one' })
          .setIssuer(provider.issuer)
          .setAudience(String(provider.forged.aud ?? clientId))
          .setIssuedAt()
          .setExpirationTime('5m')
          .sign(privateKey)
        return send({
          access_token: 'access-1',
          token_type: 'Bearer',
          expires_in: 300,
          ...(provider.withoutIdToken ? {} : { id_token: idToken }),
        })
      }
      default:
        return void response.writeHead(404).end()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const provider: OidcProvider = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    person: { sub: 'person-1', email: '', email_verified: true, name: 'Pat' },
    forged: {},
    withoutIdToken: false,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return provider
}
