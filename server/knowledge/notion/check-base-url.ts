import { invalidField } from '../../http/errors.ts'

/**
 * Another server's address, without the slash at its end; throws VALIDATION_INVALID_BODY. Where it leads is checked
 * with each request, by the guarded fetcher: names may come to mean another address.
 */
export function checkBaseUrl(text: string): string {
  const url = URL.parse(text.trim())
  if (!url) throw invalidField('baseUrl', 'Must be a whole URL, like https://pages.example.com.')
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw invalidField('baseUrl', 'Must begin with http:// or https://.')
  if (url.username || url.password) throw invalidField('baseUrl', 'Must not hold a user name or password.')
  if (url.search || url.hash) throw invalidField('baseUrl', 'Must end with the host or a path.')
  return url.href.replace(/\/+$/, '')
}
