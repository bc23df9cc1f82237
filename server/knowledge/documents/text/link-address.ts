const MAX_ADDRESS_LENGTH = 2_000

/**
 * Returns the address that a link of a document leads to, as it stands in Markdown; null when it cannot be followed from
 * elsewhere. `page` is the document's own address, if it is known.
 */
export function linkAddress(href: string, page: string | null): string | null {
  if (href === '' || href.startsWith('#')) return null
  const url = URL.parse(href, page ?? undefined)
  if (!url || !/^(?:https?|mailto|tel):$/.test(url.protocol) || url.username !== '' || url.password !== '')
    return null
  const address = url.href.replace(
    /[()|\s\\<>"`]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return address.length <= MAX_ADDRESS_LENGTH ? address : null
}
