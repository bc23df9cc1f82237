import { invalidField } from '../../platform/http/errors.ts'

/** Returns why no page can have this URL, or null. */
export function refuseSourceUrl(text: string): string | null {
  const url = URL.parse(text.trim())
  if (!url) return 'Must be a whole URL, like https://example.com/help.'
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'Must begin with http:// or https://.'
  return url.username || url.password ? 'Must not contain a user name or password.' : null
}

/** Returns the normalised URL of a link source. Throws VALIDATION_INVALID_BODY for one that no page can have. */
export function sourceUrl(text: string): string {
  const problem = refuseSourceUrl(text)
  if (problem !== null) throw invalidField('url', problem)
  const url = new URL(text.trim())
  url.hash = ''
  return url.href
}
