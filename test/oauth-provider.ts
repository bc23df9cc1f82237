import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Permission = { address: string; isValid: boolean }

/**
 * A provider of OAuth 2 for mailboxes: it gives codes to its one client (RFC 6749, 4.1) if they are asked for with PKCE
 * (RFC 7636), each refresh token once, says to mail servers whose a token is (RFC 7662), and withdraws permissions
 * (RFC 7009).
 */
export type OauthProvider = {
  url: string
  clientId: string
  clientSecret: string
  /** Does what a person does on the provider's page, and returns the address to which the browser is sent. */
  permit(url: string, address: string): Promise<string>
  /** What was asked for tokens, oldest first. */
  asked: URLSearchParams[]
  /** Whether the token gives access to this mailbox. */
  accepts(token: string, address: string): boolean
  withdrawAll(): void
  /** Whether no permission is left. */
  isWithdrawn(): boolean
  close(): void
}

export async function startOauthProvider(port = 0): Promise<OauthProvider> {
  const client = { clientId: 'parley', clientSecret: 'hidden' }
  const codes = new Map<string, { challenge: string; redirectUrl: string; address: string }>()
  const refresh = new Map<string, Permission>()
  const access = new Map<string, Permission>()
  const asked: URLSearchParams[] = []
  const permissions: Permission[] = []
  const fresh = (): string => randomBytes(16).toString('hex')

  const give = (permission: Permission) => {
    const tokens = { access_token: fresh(), refresh_token: fresh() }
    refresh.set(tokens.refresh_token, permission)
    access.set(tokens.access_token, permission)
    return { ...tokens, token_type: 'Bearer', expires_in: 3_600 }
  }
  const refused = (error: string, about = 'The permission was withdrawn.') => ({
    status: 400,
    said: { error, error_description: about },
  })
  function answer(form: URLSearchParams): { status: number; said: object } {
    if (form.get('client_id') !== client.clientId || form.get('client_secret') !== client.clientSecret)
      return refused('invalid_client', 'Unknown client.')
    if (form.get('grant_type') === 'refresh_token') {
      const token = form.get('refresh_token') ?? ''
      const known = refresh.get(token)
      refresh.delete(token)
      return known?.isValid ? { status: 200, said: give(known) } : refused('invalid_grant')
    }
    const code = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (code?.redirectUrl !== form.get('redirect_uri') || code?.challenge !== verifier)
      return refused('invalid_grant', 'The code does not fit.')
    const permission = { address: code.address, isValid: true }
    permissions.push(permission)
    return { status: 200, said: give(permission) }
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://127.0.0.1')
    let body = ''
    for await (const piece of request) body += piece
    const form = new URLSearchParams(body)
    const say = (status: number, said: object): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said))
    if (url.pathname === '/token') {
      asked.push(form)
      const { status, said } = answer(form)
      return say(status, said)
    }
    if (url.pathname === '/revoke') {
      const known = refresh.get(form.get('token') ?? '')
      // As large providers do it: what the person has permitted to the client ends as a whole.
      for (const permission of permissions)
        if (permission.address === known?.address) permission.isValid = false
      return say(known ? 200 : 400, known ? {} : { error: 'invalid_token' })
    }
    if (url.pathname === '/introspect') {
      const token = url.searchParams.get('token') ?? form.get('token') ?? ''
      const known = access.get(token)
      return say(200, known?.isValid ? { active: true, email: known.address } : { active: false })
    }
    if (url.pathname === '/authorize') {
      const to = new URL(url.searchParams.get('redirect_uri') ?? '')
      const address = url.searchParams.get('login_hint') ?? ''
      const state = url.searchParams.get('state') ?? ''
      const isRight =
        url.searchParams.get('client_id') === client.clientId &&
        url.searchParams.get('response_type') === 'code' &&
        url.searchParams.get('code_challenge_method') === 'S256'
      if (isRight && url.searchParams.get('refuse') === null) {
        const code = fresh()
        const challenge = url.searchParams.get('code_challenge') ?? ''
        codes.set(code, { challenge, redirectUrl: to.href, address })
        to.searchParams.set('code', code)
      } else to.searchParams.set('error', isRight ? 'access_denied' : 'invalid_request')
      to.searchParams.set('state', state)
      return void response.writeHead(302, { location: to.href }).end()
    }
    response.writeHead(404).end()
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...client,
    asked,
    async permit(url, address) {
      const page = new URL(url)
      page.searchParams.set('login_hint', address)
      const answered = await fetch(page, { redirect: 'manual' })
      return answered.headers.get('location') ?? ''
    },
    accepts(token, address) {
      const known = access.get(token)
      return known?.isValid === true && known.address === address
    },
    withdrawAll: () => {
      for (const permission of permissions) permission.isValid = false
    },
    isWithdrawn: () => permissions.every(({ isValid }) => !isValid),
    close: () => void server.close(),
  }
}
