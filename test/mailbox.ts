import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { emailChannel } from '../server/channels/email/outbound/email-channel.ts'
import { createMailReader } from '../server/channels/email/parse/mail-reader.ts'
import { createSender } from '../server/channels/outbound/send-deliveries.ts'
import type { Client, Service } from './start.ts'
import { takeIn } from './take-in.ts'

/** An agent with a mailbox, with access to its incoming and outgoing mail. */
export type TestMailbox = Awaited<ReturnType<typeof connectTestMailbox>>

export const ADDRESS = 'support@shop.example'
const SECRET = 'a secret for tests of webhooks'

type Options = { address?: string; smtpPort: number; agent?: string } & Record<string, unknown>

export async function connectTestMailbox(
  service: Service,
  client: Client,
  { smtpPort, agent = 'Shop', ...more }: Options,
) {
  const agentId: string = (await client.request('POST', '/agents', { name: agent })).body.id
  const connected = await client.request('PUT', `/agents/${agentId}/email/connection`, {
    address: ADDRESS,
    smtp: { host: '127.0.0.1', port: smtpPort, security: 'none', username: 'user', password: 'secret' },
    inboundSecret: SECRET,
    ...more,
  })
  assert.equal(connected.status, 200, JSON.stringify(connected.body))
  // Tests of other things compare whole texts.
  await client.request('PUT', `/agents/${agentId}`, { aiNotice: { enabled: false } })
  const { db } = service.ctx
  const post = (raw: string | Buffer, headers: Record<string, string> = {}) =>
    postMail(service, agentId, raw, headers)
  const sender = createSender(service.ctx, [emailChannel])
  return {
    agentId,
    post,
    /** Posts a mail, asserts that it is accepted, and adds it to its conversation at once. */
    async receive(raw: string | Buffer): Promise<void> {
      const answer = await post(raw)
      assert.equal(answer.status, 200, await answer.text())
      await takeIn(service, agentId)
    },
    threads: () =>
      db
        .selectFrom('channel_threads')
        .selectAll()
        .where('agent_id', '=', agentId)
        .orderBy('created_at')
        .execute(),
    inbound: () =>
      db.selectFrom('inbound_messages').selectAll().where('agent_id', '=', agentId).orderBy('id').execute(),
    conversations: () =>
      db
        .selectFrom('conversations')
        .selectAll()
        .where('agent_id', '=', agentId)
        .orderBy('created_at')
        .execute(),
    deliveries: () =>
      db.selectFrom('deliveries').selectAll().where('agent_id', '=', agentId).orderBy('id').execute(),
    /** Returns the messages of all conversations, in order. */
    async said(): Promise<string[]> {
      const rows = await db
        .selectFrom('messages')
        .innerJoin('conversations', 'conversations.id', 'messages.conversation_id')
        .select(['messages.role', 'messages.parts'])
        .where('messages.agent_id', '=', agentId)
        .orderBy('conversations.created_at')
        .orderBy('messages.seq')
        .execute()
      return rows.map(({ role, parts }) => `${role}: ${(parts[0] as { text: string }).text}`)
    },
    /** Makes all queued deliveries due and attempts them. */
    async send(): Promise<void> {
      await db
        .updateTable('deliveries')
        .set({ next_at: new Date(0) })
        .where('agent_id', '=', agentId)
        .where('status', '=', 'queued')
        .execute()
      await sender.tick()
      await sender.idle()
    },
  }
}

async function postMail(
  service: Service,
  agentId: string,
  raw: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Response> {
  const timestamp = headers['x-timestamp'] ?? String(Math.floor(Date.now() / 1000))
  const body = new Uint8Array(Buffer.from(raw as string))
  const signature = createHmac('sha256', SECRET).update(`${timestamp}.`).update(body).digest('hex')
  return fetch(`${service.url}/webhooks/email/${agentId}`, {
    method: 'POST',
    headers: {
      'content-type': 'message/rfc822',
      'x-timestamp': timestamp,
      'x-signature': signature,
      ...headers,
    },
    body,
  })
}

/** As the receiving server writes it about senders that it could verify. */
export const VERIFIED = { 'Authentication-Results': 'mx.shop.example; dmarc=pass header.from=example.com' }

let number = 0

/** Returns a mail whose headers override the default ones. */
export function mail(text: string, headers: Record<string, string> = {}): string {
  const all: Record<string, string> = {
    From: 'Ann <ann@example.com>',
    To: ADDRESS,
    Subject: 'A question',
    'Message-ID': `<${number++}.${process.pid}@example.com>`,
    'Content-Type': 'text/plain; charset=utf-8',
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return `${lines.join('\r\n')}\r\n\r\n${text}\r\n`
}

/** Returns the unfolded value of a header of a mail. */
export const headerOf = (raw: string, name: string): string | undefined =>
  new RegExp(`^${name}:[ \\t]*(.*(?:\\r?\\n[ \\t].*)*)`, 'im')
    .exec(raw)?.[1]
    ?.replace(/\r?\n[ \t]+/g, ' ')
    .trim()

/** Makes all mailboxes due now. */
export const mailboxesAreDue = ({ ctx }: Service) =>
  ctx.db
    .updateTable('email_connections')
    .set({ next_read_at: new Date(0) })
    .execute()

/** Reads all mailboxes once and waits until they have been read. */
export async function readMailboxes(service: Service): Promise<void> {
  await mailboxesAreDue(service)
  const reader = createMailReader(service.ctx, { maxWaiting: 0 })
  await reader.tick()
  await reader.idle()
}
