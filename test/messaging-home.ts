import assert from 'node:assert/strict'
import { createSender } from '../server/channels/outbound/send-deliveries.ts'
import { channels } from '../server/channels/registry/channels.ts'
import { type MessagingServer, startMessagingServer } from './fakes/messaging-server.ts'
import { signatureOf, textWebhook } from './fakes/messaging-wire.ts'
import { type Client, type Service, startService } from './start.ts'

export const ACCOUNT = '111'
export const NUMBER = 'n-1'
export const SECRET = 'app-secret'
export const VERIFY = 'verify-me'
export const PAT = '15550102030'

/** A service with an agent that is connected to one phone number of a fake channel. */
export type MessagingHome = {
  service: Service
  fake: MessagingServer
  client: Client
  agentId: string
  /** Posts a signed webhook, to another process if `to` is its URL. */
  webhook(body: object, options?: { secret?: string; to?: string; agentId?: string }): Promise<Response>
  /** Receives a message from the customer Pat. */
  say(id: string, seconds: number, text: string, from?: string): Promise<Response>
  /** Sends due deliveries until none is left. */
  deliver(): Promise<void>
  close(): Promise<void>
}

export const envFor = (fake: MessagingServer): Record<string, string> => ({
  ALLOWED_PRIVATE_HOSTS: new URL(fake.url).host,
})

export async function startMessagingHome(
  env: Record<string, string> = {},
  options: { idle?: boolean } = {},
): Promise<MessagingHome> {
  const fake = await startMessagingServer()
  fake.accounts.set(ACCOUNT, {
    token: 'token-1',
    numbers: [{ id: NUMBER, phone: '+1 555-000-1111', name: 'Shop' }],
    templates: [],
  })
  const service = await startService({ ...envFor(fake), ...env }, undefined, options).catch(
    async (error: unknown) => {
      await fake.close()
      throw error
    },
  )
  const client = await service.account()
  const agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  const account = {
    businessAccountId: ACCOUNT,
    accessToken: 'token-1',
    appSecret: SECRET,
    verifyToken: VERIFY,
  }
  const connected = await client.request('PUT', `/agents/${agentId}/messaging/connection`, {
    accounts: [account],
    baseUrl: fake.url,
  })
  assert.deepEqual([connected.status, connected.body], [200, { success: true }])
  // Tests of other things compare whole texts.
  await client.request('PUT', `/agents/${agentId}`, { aiNotice: { enabled: false } })
  const webhook: MessagingHome['webhook'] = (
    body,
    { secret = SECRET, to = service.url, agentId: id = agentId } = {},
  ) => {
    const text = JSON.stringify(body)
    return fetch(`${to}/webhooks/messaging/${id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': signatureOf(text, secret) },
      body: text,
    })
  }
  const sender = createSender(service.ctx, channels)
  return {
    service,
    fake,
    client,
    agentId,
    webhook,
    say: (id, seconds, text, from = PAT) =>
      webhook(textWebhook({ account: ACCOUNT, number: NUMBER, from }, id, seconds, text)),
    async deliver() {
      await sender.tick()
      await sender.idle()
    },
    async close() {
      await service.close()
      await fake.close()
    },
  }
}

/** Returns the current time in Unix seconds, as webhooks contain it. */
export const now = (): number => Math.floor(Date.now() / 1_000)
