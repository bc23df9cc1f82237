import { type Inbound, receiveMessage } from '../server/channels/receive-message.ts'
import type { Service } from './start.ts'

type Owner = Pick<Inbound, 'accountId' | 'agentId'>
type Options = {
  /** The customer's number. */
  peer?: string
  sentAt?: Date
  /** Of the channel: two messages with one id are one. */
  id?: string
  /** Nobody answers it. */
  silent?: boolean
}

let received = 0

/** A customer's message comes in on a channel; a job takes it in. */
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
