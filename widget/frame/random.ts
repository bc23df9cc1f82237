const randomBytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length))

/** Returns 32 random bytes as 43 characters of base64url. */
export function newSecret(): string {
  const text = btoa(String.fromCharCode(...randomBytes(32)))
  return text.replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')
}

/** Returns a UUID of version 4. crypto.randomUUID is not available on pages without HTTPS. */
export function newUuid(): string {
  const bytes = randomBytes(16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
