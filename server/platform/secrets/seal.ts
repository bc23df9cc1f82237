import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'

/** The place of an encrypted text and its purpose. The text cannot be decrypted anywhere else. */
export type SecretLocation = { table: string; row: string; purpose: string }

/** A key that is derived from a secret text. */
export type SealKey = {
  /** The id is part of each text that the key has encrypted. */
  id: string
  /** The secret text that the key is derived from. */
  secret: string
  seal(text: string, place: SecretLocation): string
  /** Throws when the text was changed or moved, or was encrypted with another key. */
  open(text: string, place: SecretLocation): string
}

/** Texts of this version are bound to their place. Those of `OLD` are not, and are re-encrypted at the next start. */
const VERSION = 'v2'
const OLD = 'v1'

/** Returns the id of the key that encrypted the text; null if the text is not encrypted. */
export const keyIdOf = (text: string): string | null => SEALED.exec(text)?.[1] ?? null

const SEALED = /^v[12]:([\w-]{8}):[\w-]+:[\w-]+:[\w-]*$/

/** The prefix of every text that is encrypted today, for SQL. */
export const sealedBy = (keyId: string): string => `${VERSION}:${keyId}:`

/** AES-256-GCM with a key derived from `secret`; texts look like `v2:keyId:iv:tag:data`. */
export function createSealKey(secret: string): SealKey {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'parley secrets', 32))
  const id = createHash('sha256').update(key).digest('base64url').slice(0, 8)
  return {
    id,
    secret,
    seal(text, place) {
      const iv = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(bytesOf(place))
      const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      const parts = [iv, cipher.getAuthTag(), data].map((part) => part.toString('base64url'))
      return [VERSION, id, ...parts].join(':')
    },
    open(text, place) {
      const [version, keyId, ...rest] = text.split(':')
      const [iv, tag, data, ...more] = rest.map((part) => Buffer.from(part, 'base64url'))
      const isOurs = (version === VERSION || version === OLD) && keyId === id
      if (!isOurs || !iv || !tag || !data || more.length > 0)
        throw new Error('The encrypted text belongs to another key or is damaged.')
      // Node ignores meaningless characters in base64, so this requires that each encrypted text has exactly one
      // spelling.
      if ([iv, tag, data].some((part, at) => part.toString('base64url') !== rest[at]))
        throw new Error('The encrypted text belongs to another key or is damaged.')
      const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: 16 }).setAuthTag(tag)
      if (version === VERSION) decipher.setAAD(bytesOf(place))
      return Buffer.concat([decipher.update(data), decipher.final()]).toString('utf8')
    },
  }
}

const bytesOf = ({ table, row, purpose }: SecretLocation): Buffer =>
  Buffer.from(JSON.stringify([table, row, purpose]))
