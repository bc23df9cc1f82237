import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * A mark identifies a thread in outgoing mails, so that the answer can be assigned to it: `peer` and a signature
 * over it. It has only lower-case letters and digits, because servers may change the case of an address.
 */
const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567'
const PEER_BYTES = 10
const PEER_LENGTH = 16
const SIGNATURE_LENGTH = 12
const MARK = new RegExp(`^[a-z2-7]{${PEER_LENGTH + SIGNATURE_LENGTH}}$`)
/** RFC 5321, 4.5.3.1.1. */
const MAX_LOCAL_PART_LENGTH = 64

export const newPeer = (): string => letters(randomBytes(PEER_BYTES))

/** Returns the same peer for the same text, for threads that begin here. */
export const peerFrom = (key: Buffer, text: string): string =>
  letters(createHmac('sha256', key).update(`peer ${text}`).digest()).slice(0, PEER_LENGTH)

export const markOf = (key: Buffer, peer: string): string => peer + signatureOf(key, peer)

/** Returns the peer of a mark, or null when it was not signed with this key. */
export function peerOfMark(key: Buffer, mark: string): string | null {
  const text = mark.toLowerCase()
  if (!MARK.test(text)) return null
  const peer = text.slice(0, PEER_LENGTH)
  const isOurs = timingSafeEqual(Buffer.from(text.slice(PEER_LENGTH)), Buffer.from(signatureOf(key, peer)))
  return isOurs ? peer : null
}

/** Returns `name+mark@domain`, or null when that is longer than mail servers accept. */
export function markedAddress(key: Buffer, address: string, peer: string): string | null {
  const at = address.lastIndexOf('@')
  const local = `${address.slice(0, at)}+${markOf(key, peer)}`
  return local.length > MAX_LOCAL_PART_LENGTH ? null : local + address.slice(at)
}

export function peerOfAddress(key: Buffer, address: string): string | null {
  return peerOfMark(key, /\+([a-z2-7]+)@[^@]+$/i.exec(address)?.[1] ?? '')
}

/** Returns the Message-ID of a delivery. It is the same at every attempt, so that a second copy can be recognised. */
export const messageIdOf = (key: Buffer, deliveryId: string, peer: string, domain: string): string =>
  `<${deliveryId}.${markOf(key, peer)}@${domain}>`

/**
 * Returns the id by which a mail names itself at the end of its own References. Some servers replace the Message-ID, and
 * clients put both before the id of their answer (RFC 5322, 3.6.4): this one tells whose mail the unknown one is.
 */
export const ownReferenceOf = (key: Buffer, deliveryId: string, peer: string, domain: string): string =>
  `<${OWN}${deliveryId}.${markOf(key, peer)}@${domain}>`

const OWN = 'sent.'

export const isOwnReference = (id: string): boolean => id.startsWith(`<${OWN}`)

/** Reads a Message-ID or a reference of our own. Returns null for every other. */
export function readMessageId(key: Buffer, id: string): { deliveryId: string; peer: string } | null {
  const [, deliveryId = '', mark = ''] = /^<(?:sent\.)?([0-9a-f-]{36})\.([a-z2-7]+)@[^@>]+>$/i.exec(id) ?? []
  const peer = peerOfMark(key, mark)
  return peer === null ? null : { deliveryId: deliveryId.toLowerCase(), peer }
}

const signatureOf = (key: Buffer, peer: string): string =>
  letters(createHmac('sha256', key).update(`mark ${peer}`).digest()).slice(0, SIGNATURE_LENGTH)

function letters(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += LETTERS[(value >> bits) & 31]
    }
  }
  return text
}
