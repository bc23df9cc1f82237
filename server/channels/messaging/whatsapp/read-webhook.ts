import type { MessageStatus, WebhookEvent } from '../connection/provider-adapter.ts'
import { type JsonObject, objectOf, objectsIn, text } from '../connection/untrusted-json.ts'
import { contentOf } from './message-content.ts'
import { reasonOf } from './read-failure.ts'

/** Ids are part of an index and of URLs. */
const MAX_ID_LENGTH = 256
const STATUSES: readonly string[] = ['sent', 'delivered', 'read', 'failed']

/** The most entries that the provider sends in one webhook. */
const MAX_COUNT = 1_000

/**
 * Returns the message events of a webhook and ignores everything else. `dropped` is the number of entries beyond
 * what the provider sends.
 */
export function readWebhook(body: unknown, now: Date): { events: WebhookEvent[]; dropped: number } {
  let dropped = 0
  const first = (list: unknown): JsonObject[] => {
    if (!Array.isArray(list)) return []
    dropped += Math.max(0, list.length - MAX_COUNT)
    return objectsIn(list.slice(0, MAX_COUNT))
  }
  const events = objectsIn(objectOf(body).entry).flatMap((entry) =>
    objectsIn(entry.changes)
      .filter(({ field }) => field === 'messages')
      .flatMap(({ value }) => {
        const of = {
          businessAccountId: id(entry.id),
          numberId: id(objectOf(objectOf(value).metadata).phone_number_id),
        }
        if (of.businessAccountId === '' || of.numberId === '') return []
        const { contacts, messages, statuses } = objectOf(value)
        const nameOf = namesOf(first(contacts))
        return [
          ...first(messages).flatMap((message) => readMessage(of, message, nameOf, now)),
          ...first(statuses).flatMap((status) => readStatus(of, status)),
        ]
      }),
  )
  return { events, dropped }
}

type Of = { businessAccountId: string; numberId: string }
type NameOf = (from: string) => string | null

/** The names by sender. A single contact is the sender, whatever its number. */
function namesOf(contacts: JsonObject[]): NameOf {
  const names = new Map<string, string | null>()
  for (const { wa_id, profile } of contacts) {
    const from = text(wa_id)
    const name = text(objectOf(profile).name).trim().slice(0, 100).toWellFormed()
    if (!names.has(from)) names.set(from, name || null)
  }
  const [only = null] = contacts.length === 1 ? names.values() : []
  return (from) => names.get(from) ?? only
}

function readMessage(of: Of, message: JsonObject, nameOf: NameOf, now: Date): WebhookEvent[] {
  const messageId = id(message.id)
  const from = text(message.from)
  if (messageId === '' || !/^[0-9]{5,20}$/.test(from)) return []
  const name = nameOf(from)
  const content = contentOf(message)
  const isText = message.type === 'text' || message.type === 'button'
  const sentAt = timeOf(message.timestamp, now)
  const words = isText ? content.text : null
  const pressed = id(objectOf(objectOf(message.interactive).button_reply).id) || null
  return [{ kind: 'message', ...of, from, name, messageId, sentAt, content, words, pressed }]
}

function readStatus(of: Of, status: JsonObject): WebhookEvent[] {
  const messageId = id(status.id)
  // A voice message that has been played.
  const named = status.status === 'played' ? 'read' : text(status.status)
  if (messageId === '' || !STATUSES.includes(named)) return []
  const [error] = objectsIn(status.errors)
  return [
    {
      kind: 'status',
      ...of,
      messageId,
      callback: id(status.biz_opaque_callback_data) || null,
      recipient: id(status.recipient_id) || null,
      status: named as MessageStatus,
      reason: named === 'failed' ? reasonOf(error ?? {}) : null,
    },
  ]
}

const id = (value: unknown): string => {
  const found = text(value)
  return found.length <= MAX_ID_LENGTH ? found : ''
}

/** Reads Unix seconds. An invalid or future time becomes the present. */
function timeOf(value: unknown, now: Date): Date {
  const seconds = Number(text(value) || Number.NaN)
  const ms = seconds * 1_000
  return ms > Date.UTC(2009) && ms <= now.getTime() ? new Date(ms) : now
}
