import MarkdownIt from 'markdown-it'

/** Returns whether a text may link to a URL. */
export type MayLink = (href: string) => boolean

/**
 * Allows links to these hosts and their subdomains, to phone numbers, and to mail addresses without any text in the
 * link. It is meant for text by models, which may have read a page that tries to lure customers away in the owner's
 * name, or to exfiltrate what they said in a URL.
 */
export function linksTo(hosts: readonly string[]): MayLink {
  const known = hosts.map((host) => host.replace(/^\*\.|:\d+$/g, '').toLowerCase())
  return (href) => {
    const { protocol, hostname, search, username } = URL.parse(href) ?? {}
    if (protocol === 'mailto:') return search === ''
    if (protocol === 'tel:') return true
    if ((protocol !== 'http:' && protocol !== 'https:') || username !== '' || href.includes('\\'))
      return false
    return known.some((host) => hostname === host || hostname?.endsWith(`.${host}`))
  }
}

/** Returns the host of a URL; null when it is not a web address. */
export const hostOf = (address: string | null): string | null => URL.parse(address ?? '')?.hostname || null

const EXPLICIT = /(?:(?:https?|ftp):\/\/|mailto:|(?<![\p{L}\p{N}])www\.)[^\s<>"'`]{1,2000}/giu
/** Matches a host with a path, of any domain. */
const BARE = /(?<![\p{L}\p{N}./@-])(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24}(?=[/?])/giu
const { linkify } = new MarkdownIt()
linkify.set({ fuzzyLink: true, fuzzyEmail: false, fuzzyIP: true })
/** The number of characters that are searched at once for URLs without a scheme. */
const AT_ONCE = 2_000

/**
 * Returns a text without links that are not allowed, even for programs that turn plain text into links: only the host
 * of such a URL remains, with its dots in brackets.
 */
export function withoutForeignLinks(text: string, mayLink: MayLink): string {
  const plain = text.replace(EXPLICIT, (address) => {
    const end = /[.,;:!?)\]*_~]*$/.exec(address.slice(-20))?.[0] ?? ''
    const href = address.slice(0, address.length - end.length)
    if (mayLink(/^www\./i.test(href) ? `http://${href}` : href)) return address
    return (/^mailto:/i.test(href) ? href.split('?', 1)[0] : named(href)) + end
  })
  return stretchesOf(plain)
    .map((stretch) => withoutBareLinks(stretch, mayLink))
    .join('')
}

/** Splits a text after spaces, which no URL contains. A run without any space is split at the limit. */
function stretchesOf(text: string): string[] {
  const stretches: string[] = []
  for (let at = 0; at < text.length; ) {
    const end = at + AT_ONCE
    const space = end < text.length ? lastSpace(text.slice(at, end)) : -1
    const until = space > 0 ? at + space + 1 : end
    stretches.push(text.slice(at, until))
    at = until
  }
  return stretches
}

function withoutBareLinks(plain: string, mayLink: MayLink): string {
  if (!/[.:]/.test(plain)) return plain
  const hosts = plain.replace(BARE, (host) =>
    mayLink(`http://${host}`) ? host : host.replaceAll('.', '[.]'),
  )
  const pieces: string[] = []
  let at = 0
  for (const { index, lastIndex, url, raw } of linkify.match(hosts) ?? []) {
    if (mayLink(url)) continue
    pieces.push(hosts.slice(at, index), url.startsWith('mailto:') ? raw : named(url))
    at = lastIndex
  }
  return [...pieces, hosts.slice(at)].join('')
}

function named(address: string): string {
  const href = address.startsWith('//') ? `http:${address}` : address.replace(/^(?=www\.)/i, 'http://')
  return (hostOf(href) ?? 'a link').replaceAll('.', '[.]')
}

const MAYBE_LINK = /[.:/@]|(?:^|[^a-z])(?:h|ht|htt|https?|w|ww|www|f|ft|ftp|m|ma|mai|mail|mailto)$/i
/** The longest word that is considered as a URL; nobody follows a longer one. */
const MAX_WORD_LENGTH = 500

/**
 * Does the same for a text that arrives in pieces: a word that may become a URL is held back until it is complete.
 */
export class LinkFilter {
  readonly #mayLink: MayLink
  /** The word that is being written, and how much of it was returned. */
  #word = ''
  #given = ''

  constructor(mayLink: MayLink) {
    this.#mayLink = mayLink
  }

  add(delta: string): string {
    const text = this.#word + delta
    // The word that is being written contains no space.
    const space = lastSpace(delta)
    const start = space === -1 ? 0 : this.#word.length + space + 1
    const words = start > 0 ? this.#rest(text.slice(0, start)) : ''
    if (start > 0) this.#given = ''
    this.#word = text.slice(start)
    if (this.#word.length > MAX_WORD_LENGTH) return words + this.end()
    if (MAYBE_LINK.test(this.#word)) return words
    const more = this.#word.slice(this.#given.length)
    this.#given = this.#word
    return words + more
  }

  end(): string {
    const rest = this.#rest(this.#word)
    this.#word = ''
    this.#given = ''
    return rest
  }

  #rest(text: string): string {
    const allowed = withoutForeignLinks(text, this.#mayLink)
    return allowed.startsWith(this.#given) ? allowed.slice(this.#given.length) : ''
  }
}

function lastSpace(text: string): number {
  for (let at = text.length - 1; at >= 0; at--) if (/\s/.test(text[at] ?? '')) return at
  return -1
}
