const MAX_LENGTH = 2048

/**
 * Returns the origin and path of a page, without query, fragment and credentials, or only the origin when the path is
 * too long. Returns null for anything but an http or https URL.
 */
export function embedOriginOf(page: string): string | null {
  if (!URL.canParse(page)) return null
  const { protocol, origin, pathname } = new URL(page)
  if (protocol !== 'https:' && protocol !== 'http:') return null
  const whole = pathname === '/' ? origin : origin + pathname
  return whole.length <= MAX_LENGTH ? whole : origin.length <= MAX_LENGTH ? origin : null
}
