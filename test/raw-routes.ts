import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { signatureOf } from './fakes/messaging-wire.ts'

/** The secrets with which tests reach an account through routes outside the APIs. */
export const SECRETS = {
  appSecret: (mark: string) => `app-secret-of-${mark}`,
  verifyToken: (mark: string) => `verify-${mark}`,
  inboundSecret: (mark: string) => `inbound-secret-that-is-long-enough-of-${mark}`,
}

type Sent = { method: string; path: string; headers?: Record<string, string>; body?: string }

/**
 * A route that no contract describes. `ask` returns the requests to it with an id, signed with the secrets of `mark`.
 */
export type RawRoute = {
  route: string
  /** Set if the route serves only public data to anyone who knows the id of a public agent. */
  isPublic?: true
  ask(id: string, mark: string): Sent[]
}

const get = (path: string): Sent => ({ method: 'GET', path })
const json = { 'content-type': 'application/json' }

function signedMail(path: string, mark: string): Sent {
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const body = `From: a@example.com\r\nTo: b@example.com\r\nMessage-ID: <${mark}@example.com>\r\nSubject: Hi\r\n\r\nHello`
  const signature = createHmac('sha256', SECRETS.inboundSecret(mark))
    .update(`${timestamp}.${body}`)
    .digest('hex')
  const headers = { 'content-type': 'message/rfc822', 'x-timestamp': timestamp, 'x-signature': signature }
  return { method: 'POST', path, headers, body }
}

function signedMessage(path: string, mark: string): Sent {
  const body = JSON.stringify({ object: 'whatsapp_business_account', entry: [] })
  const headers = { ...json, 'x-hub-signature-256': signatureOf(body, SECRETS.appSecret(mark)) }
  return { method: 'POST', path, headers, body }
}

/** All raw routes whose path has a parameter. */
export const RAW_ROUTES: RawRoute[] = [
  { route: '/attachments/:token', ask: (id) => [get(`/attachments/${id}`)] },
  { route: '/source-files/:token', ask: (id) => [get(`/source-files/${id}`)] },
  {
    route: '/surveys/:token',
    ask: (id) => [
      get(`/surveys/${id}`),
      { method: 'POST', path: `/surveys/${id}`, headers: json, body: '{"rating":1}' },
    ],
  },
  {
    route: '/webhooks/messaging/:agentId',
    ask: (id, mark) => [
      get(
        `/webhooks/messaging/${id}?hub.mode=subscribe&hub.challenge=1&hub.verify_token=${SECRETS.verifyToken(mark)}`,
      ),
      signedMessage(`/webhooks/messaging/${id}`, mark),
    ],
  },
  { route: '/webhooks/email/:agentId', ask: (id, mark) => [signedMail(`/webhooks/email/${id}`, mark)] },
  { route: '/widget/:agentId', isPublic: true, ask: (id) => [get(`/widget/${id}`)] },
  {
    route: '/widget/:agentId/launcher.json',
    isPublic: true,
    ask: (id) => [get(`/widget/${id}/launcher.json`)],
  },
  { route: '/pictures/:agentId/:name', isPublic: true, ask: (id) => [get(`/pictures/${id}/icon`)] },
  { route: '/widget-assets/:name', ask: (id) => [get(`/widget-assets/${id}`)] },
  { route: '/workspace-assets/:name', ask: (id) => [get(`/workspace-assets/${id}`)] },
  { route: '/docs/:folder/:file', ask: (id) => [get(`/docs/guide/${id}`), get(`/docs/${id}/index`)] },
]

/** Returns the routes with path parameters that are registered one by one in the service's source files. */
export function routesInFiles(): string[] {
  const server = join(import.meta.dirname, '../server')
  const files = readdirSync(server, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!\.test)\.ts$/.test(name),
  )
  const found = files.flatMap((name) =>
    Array.from(
      readFileSync(join(server, name), 'utf8').matchAll(
        /\.(?:get|post|put|patch|delete)(?:<[^(]*>)?\(\s*'(\/[^']*:[^']*)'/g,
      ),
      ([, route = '']) => route,
    ),
  )
  return [...new Set(found)].sort()
}
