import Type from 'typebox'

/** The URL of another server with the interface of a provider, to be read with baseUrlOf(). */
export const BaseUrl = Type.String({
  minLength: 1,
  maxLength: 2_048,
  rule: refuseBaseUrl,
  description: 'Another server with the same API; the default is the public one',
})

/** Returns the URL without its trailing slash, or null when there is none. */
export const baseUrlOf = (text: string | undefined): string | null =>
  text === undefined ? null : new URL(text.trim()).href.replace(/\/+$/, '')

/** The guarded fetcher checks the address with each request, because a name may resolve to another one later. */
function refuseBaseUrl(text: string): string | null {
  const url = URL.parse(text.trim())
  if (!url) return 'Must be a whole URL, like https://pages.example.com.'
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'Must begin with http:// or https://.'
  if (url.username || url.password) return 'Must not contain a user name or password.'
  return url.search || url.hash ? 'Must end with the host or a path.' : null
}
