import { type Inbound, receiveMessage } from '../server/channels/inbound/receive-message.ts'
import type { Service } from './start.ts'

type Owner = Pick<Inbound, 'accountId' | 'agentId'>
type Options = {
  /** The customer's phone number. */
  peer?: string
  sentAt?: Date
  /** The channel's id of the message. Two messages with the same id count as one. */
  id?: string
  /** Whether the agent must not answer the message. */
  silent?: boolean
}

let received = 0

/** Receives a customer's message on a channel. A job processes it. */
export function customerWrites(
  { ctx }: Service,
  owner: Owner,
  text: string,
  { peer = '+12025550100', sentAt = new Date(), id = `m${received++}`, silent }: Options = {},
): ReturnType<typeof receiveMessage> {
  const inbound: Inbound = {
    ...owner,
    channel: 'messaging',
    connection: '1',
    peer,
    person: { phonenumber: peer },
    providerMessageId: id,
    sentAt,
    content: { text, attachments: [], ...(silent ? { silent } : {}) },
  }
  return ctx.db.transaction().execute((trx) => receiveMessage(ctx, trx, inbound))
}
