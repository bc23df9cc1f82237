import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'

/** Encryption of what the database must not show: credentials of providers and channels, headers of actions. */
export type Secrets = {
  /** Names the key inside each encrypted text, so that a change of keys can tell them apart. */
  keyId: string
  encrypt(text: string): string
  /** Throws when the text was changed or belongs to another key. */
  decrypt(text: string): string
}

const VERSION = 'v1'

/** AES-256-GCM with a key derived from `secret`; texts look like `v1:keyId:iv:tag:data`. */
export function createSecrets(secret: string): Secrets {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'parley secrets', 32))
  const keyId = createHash('sha256').update(key).digest('base64url').slice(0, 8)
  return {
    keyId,
    encrypt(text) {
      const iv = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, iv)
      const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      const parts = [iv, cipher.getAuthTag(), data].map((part) => part.toString('base64url'))
      return [VERSION, keyId, ...parts].join(':')
    },
    decrypt(text) {
      const [version, id, ...rest] = text.split(':')
      if (version !== VERSION || id !== keyId || rest.length !== 3) {
        throw new Error('The encrypted text belongs to another key or is damaged.')
      }
      const [iv, tag, data] = rest.map((part) => Buffer.from(part, 'base64url')) as [Buffer, Buffer, Buffer]
      const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: 16 })
      decipher.setAuthTag(tag)
      return Buffer.concat([decipher.update(data), decipher.final()]).toString('utf8')
    },
  }
}
