import type { Sender } from '../connection/provider-adapter.ts'
import { type JsonObject, objectOf, text } from '../connection/untrusted-json.ts'

/** Finds what the contacts of a webhook say about one of its senders. */
export type SenderOf = (
  phone: string | null,
  userId: string | null,
) => { contact: Sender; isNamed: boolean } | null

const phoneIn = (value: unknown): string | null => {
  const digits = text(value)
  return /^[0-9]{5,20}$/.test(digits) ? digits : null
}

/** The provider's ids begin with a country and a full stop. */
const userIdIn = (value: unknown): string | null => {
  const found = text(value)
  return /^[A-Z]{2}\.[\w.-]{1,200}$/.test(found) ? found : null
}

const nameOf = (value: unknown, length: number): string | null =>
  text(value).trim().slice(0, length).toWellFormed() || null

export const isNobody = ({ phone, userId, parentUserId }: Sender): boolean =>
  phone === null && userId === null && parentUserId === null

export const nameIn = ({ name, username }: Sender): string | null => name ?? username

/** The senders by number and by id. A single contact is the sender, whatever its number. */
export function sendersIn(contacts: JsonObject[]): SenderOf {
  const known = new Map<string, Sender>()
  const all: Sender[] = []
  for (const { wa_id, user_id, parent_user_id, profile } of contacts) {
    const { name, username } = objectOf(profile)
    const sender: Sender = {
      phone: phoneIn(wa_id),
      userId: userIdIn(user_id),
      parentUserId: userIdIn(parent_user_id),
      username: nameOf(username, 100),
      name: nameOf(name, 100),
    }
    all.push(sender)
    for (const key of [sender.phone, sender.userId])
      if (key !== null && !known.has(key)) known.set(key, sender)
  }
  const [only = null] = all.length === 1 ? all : []
  return (phone, userId) => {
    const contact =
      (userId === null ? undefined : known.get(userId)) ?? (phone === null ? undefined : known.get(phone))
    if (contact) return { contact, isNamed: true }
    return only && { contact: only, isNamed: phone === null && userId === null }
  }
}

/** Returns the sender of a message, with what its contact adds. */
export function senderOf(
  { from, from_user_id, from_parent_user_id }: JsonObject,
  senders: SenderOf = () => null,
): Sender {
  const phone = phoneIn(from)
  // Some events name the person by the id where others have the number.
  const userId = userIdIn(from_user_id) ?? userIdIn(from)
  const found = senders(phone, userId)
  // A contact with other ids says what the person is called, but not who it is.
  const ids = found?.isNamed ? found.contact : null
  return {
    phone: phone ?? ids?.phone ?? null,
    userId: userId ?? ids?.userId ?? null,
    parentUserId: userIdIn(from_parent_user_id) ?? ids?.parentUserId ?? null,
    username: ids?.username ?? null,
    name: found?.contact.name ?? null,
  }
}

/** Returns all ids of the person whom a message was sent to, or null if there is only one. */
export function recipientOf(status: JsonObject, senders: SenderOf): Sender | null {
  const named = {
    from: status.recipient_id,
    from_user_id: status.recipient_user_id,
    from_parent_user_id: status.recipient_parent_user_id,
  }
  const found = senderOf(named, senders)
  return found.phone !== null && found.userId !== null ? found : null
}
