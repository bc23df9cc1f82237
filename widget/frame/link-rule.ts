import { createContext } from 'preact'

/** Whether a text may lead to an address; what the owner and the team have written may lead anywhere. */
export type MayLink = (href: string) => boolean

export const LinkRule = createContext<MayLink>(() => true)

/**
 * For what a model has written: it may have read a page that wants visitors lured away under the owner's name, or what
 * they said carried off in an address. Leads to these hosts and their subdomains, and to mail without words in it.
 */
export function linksTo(hosts: readonly string[]): MayLink {
  return (href) => {
    const { protocol, hostname, search } = new URL(href)
    if (protocol === 'mailto:') return search === ''
    return hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`))
  }
}

/** null: no address of the web. */
export function hostOf(address: string | null): string | null {
  try {
    return new URL(address ?? '').hostname || null
  } catch {
    return null
  }
}
