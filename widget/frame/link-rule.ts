import { createContext } from 'preact'

/** Whether a text may link to an address. Texts by the owner and the team may link anywhere. */
type MayLink = (href: string) => boolean

export const LinkRule = createContext<MayLink>(() => true)

/**
 * The rule for text written by a model, which may have read a page that tries to lure visitors away in the owner's
 * name or to leak their messages in a URL. Allows links to these hosts and their subdomains, and mail links without
 * prefilled text.
 */
export function linksTo(hosts: readonly string[]): MayLink {
  return (href) => {
    const { protocol, hostname, search } = new URL(href)
    if (protocol === 'mailto:') return search === ''
    return hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`))
  }
}

/** Returns the host of a URL, or null if it has none. */
export function hostOf(address: string | null): string | null {
  try {
    return new URL(address ?? '').hostname || null
  } catch {
    return null
  }
}
