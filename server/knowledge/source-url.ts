import { invalidField } from '../http/errors.ts'

/** The URL of a link source, normalised; throws VALIDATION_INVALID_BODY for one that no page can have. */
export function sourceUrl(text: string): string {
  let url: URL
  try {
    url = new URL(text.trim())
  } catch {
    throw invalidField('url', 'Must be a whole URL, like https://example.com/help.')
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalidField('url', 'Must begin with http:// or https://.')
  }
  if (url.username || url.password) throw invalidField('url', 'Must not hold a user name or password.')
  url.hash = ''
  return url.href
}
