import type { MessageStatus, Sender, WebhookEvent } from '../connection/provider-adapter.ts'
import { type JsonObject, objectOf, objectsIn, text } from '../connection/untrusted-json.ts'
import { contentOf } from './message-content.ts'
import { reasonOf } from './read-failure.ts'
import { isNobody, nameIn, recipientOf, type SenderOf, senderOf, sendersIn } from './sender.ts'

/** Ids are part of an index and of URLs. */
const MAX_ID_LENGTH = 256
const STATUSES: readonly string[] = ['sent', 'delivered', 'read', 'failed']

/** The most entries that the provider sends in one webhook. */
const MAX_COUNT = 1_000

type Of = { businessAccountId: string; numberId: string }

/**
 * Returns the events of a webhook. What cannot be read becomes an event of its own, since the provider does not send it
 * again. `dropped` is the number of entries beyond what the provider sends.
 */
export function readWebhook(body: unknown, now: Date): { events: WebhookEvent[]; dropped: number } {
  let dropped = 0
  const first = (list: unknown): JsonObject[] => {
    if (!Array.isArray(list)) return []
    dropped += Math.max(0, list.length - MAX_COUNT)
    return objectsIn(list.slice(0, MAX_COUNT))
  }
  const events = objectsIn(objectOf(body).entry).flatMap((entry) =>
    objectsIn(entry.changes).flatMap(({ field, value }) => {
      const of = {
        businessAccountId: id(entry.id),
        numberId: id(objectOf(objectOf(value).metadata).phone_number_id),
      }
      if (field !== 'messages') return [unreadable(of, id(field), 'field', null, false)]
      const { contacts, messages, statuses, errors } = objectOf(value)
      if (of.businessAccountId === '' || of.numberId === '') {
        const isMessage = objectsIn(messages).length > 0
        return isMessage ? [unreadable(of, id(objectsIn(messages)[0]?.id), 'account', null, true)] : []
      }
      const senders = sendersIn(first(contacts))
      return [
        ...first(messages).map((message) => readMessage(of, message, senders, now)),
        ...first(statuses).map((status) => readStatus(of, status, senders)),
        ...first(errors).map((error) => unreadable(of, id(error.code), 'error', reasonOf(error), false)),
      ]
    }),
  )
  return { events, dropped }
}

const unreadable = (
  of: Of,
  reference: string,
  what: string,
  detail: string | null,
  isMessage: boolean,
): WebhookEvent => ({
  kind: 'unreadable',
  ...of,
  messageId: reference || 'without id',
  what,
  detail,
  isMessage,
})

function readMessage(of: Of, message: JsonObject, senders: SenderOf, now: Date): WebhookEvent {
  const messageId = id(message.id)
  const type = text(message.type)
  const from = senderOf(message, senders)
  if (messageId === '') return unreadable(of, '', 'without_id', type, true)
  if (id(message.group_id) !== '') return unreadable(of, messageId, 'group', nameIn(from), true)
  if (isNobody(from)) return unreadable(of, messageId, 'without_sender', type, true)
  const sentAt = timeOf(message.timestamp, now)
  const event = { ...of, messageId, from, sentAt }
  const part = objectOf(message[type])
  const originalId = id(part.original_message_id)
  if (type === 'revoke' && originalId !== '') return { kind: 'deletion', ...event, originalId }
  if (type === 'edit' && originalId !== '')
    return { kind: 'edit', ...event, originalId, ...saidIn(objectOf(part.message)) }
  const said = saidIn(message)
  const replaced = type === 'system' ? replacementIn(from, part) : null
  if (replaced && !isNobody(replaced.from))
    return { kind: 'replacement', ...event, ...replaced, content: said.content }
  const pressed = id(objectOf(objectOf(message.interactive).button_reply).id) || null
  return { kind: 'message', ...event, ...said, pressed }
}

function saidIn(message: JsonObject) {
  const content = contentOf(message)
  const isText = message.type === 'text' || message.type === 'button'
  return { content, words: isText ? content.text : null }
}

/**
 * Returns the new ids of a person who has changed the number or whose ids have changed. The provider names the ids before
 * as the sender, or in the note itself.
 */
function replacementIn(from: Sender, system: JsonObject): { from: Sender; now: Sender } | null {
  const now = senderOf({
    from: system.wa_id ?? system.new_wa_id,
    from_user_id: system.user_id,
    from_parent_user_id: system.parent_user_id,
  })
  if (!/^(user|customer)_changed_/.test(text(system.type)) || isNobody(now)) return null
  const named = senderOf({
    from: system.customer,
    from_user_id: system.previous_user_id,
    from_parent_user_id: system.previous_parent_user_id,
  })
  const before = (earlier: string | null, told: string | null, later: string | null) =>
    earlier ?? (told === later ? null : told)
  return {
    from: {
      ...from,
      phone: before(named.phone, from.phone, now.phone),
      userId: before(named.userId, from.userId, now.userId),
      parentUserId: before(named.parentUserId, from.parentUserId, now.parentUserId),
    },
    now,
  }
}

function readStatus(of: Of, status: JsonObject, senders: SenderOf): WebhookEvent {
  const messageId = id(status.id)
  // A voice message that has been played.
  const named = status.status === 'played' ? 'read' : text(status.status)
  if (messageId === '' || !STATUSES.includes(named))
    return unreadable(of, named.slice(0, MAX_ID_LENGTH), 'status', null, false)
  const [error] = objectsIn(status.errors)
  return {
    kind: 'status',
    ...of,
    messageId,
    callback: id(status.biz_opaque_callback_data) || null,
    recipient: id(status.recipient_id) || null,
    to: recipientOf(status, senders),
    status: named as MessageStatus,
    reason: named === 'failed' ? reasonOf(error ?? {}) : null,
  }
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
