// Patterns for emphasis take quadratic time, and a line this long was not written as Markdown.
const longestLine = 10_000

/** Where the links of a document lead. */
type Links = {
  /** Returns the address that a link leads to; null when it cannot be followed from elsewhere. */
  addressOf(href: string): string | null
  /** The targets that are defined below the text, by their names in lower case. */
  defined: ReadonlyMap<string, string>
}

/**
 * Converts one line of Markdown to its visible text. Links, images, emphasis, code marks, tags and escapes are
 * resolved.
 */
export const inlineText = (source: string): string => convert(source, null)

/** Does the same, but keeps links that lead somewhere, bold text and code marks, each in one form. */
export const inlineMarkdown = (source: string, links: Links): string => convert(source, links)

function convert(source: string, links: Links | null): string {
  if (source.length > longestLine) return source.replace(/\s+/g, ' ').trim()
  const kept: string[] = []
  // Code, addresses and escaped characters are replaced by placeholders, so that nothing in them is parsed as syntax.
  const keep = (text: string): string => `\ue000${kept.push(text) - 1}\ue000`
  const keepCode = (_all: string, _marks: string, code: string): string =>
    keep(links && !code.includes('`') && code.trim() ? `\`${code.trim()}\`` : code.trim())
  const keepLink = (_all: string, label: string, href: string): string => {
    const address = /^\s*\d+\s*$/.test(label) ? null : links?.addressOf(href)
    return address ? `[${label}]${keep(`(${address})`)}` : label
  }
  const keepDefined = (all: string, label: string, name: string): string => {
    const href = links?.defined.get((name || label).trim().toLowerCase())
    return href === undefined ? label : keepLink(all, label, href)
  }
  const bold = links ? '**$2**' : '$2'
  return source
    .replaceAll('\ue000', '')
    .replace(/(`+)(.+?)\1(?!`)/g, keepCode)
    .replace(/\\([!-/:-@[-`{-~])/g, (_all, letter: string) => keep(letter))
    .replace(/<((?:https?|mailto):[^>\s]+)>/g, (_all, link: string) => keep(link))
    .replace(/!\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\[([^\][]+)\]\(\s*<?((?:[^()\s<>]|\([^()\s<>]*\))*)>?(?:\s[^()]*)?\)/g, keepLink)
    .replace(/\[([^\]]+)\]\((?:[^()]|\([^()]*\))*\)/g, '$1')
    .replace(/\[([^\]]+)\]\[([^\]]*)\]/g, keepDefined)
    .replace(/<\/?[a-z][^<>]*>/gi, '')
    .replaceAll('&nbsp;', ' ')
    .replace(/(\*\*\*|\*\*)(?=\S)(.*?\S)\1/g, bold)
    .replace(/(?<![\p{L}\p{N}_])(___|__)(?=\S)(.*?\S)\1(?![\p{L}\p{N}_])/gu, bold)
    .replace(/(?<!\*)(\*|~~)(?![*\s])(.*?[^*\s])\1(?!\*)/g, '$2')
    .replace(/(?<![\p{L}\p{N}_])(_)(?=\S)(.*?\S)\1(?![\p{L}\p{N}_])/gu, '$2')
    .replace(/\ue000(\d+)\ue000/g, (_all, index: string) => kept[Number(index)] ?? '')
    .replace(/\s+/g, ' ')
    .trim()
}

const LONGEST_ADDRESS = 2_000
const DEFINITION = /^ {0,3}\[([^\]^]{1,200})\]:\s*<?([^\s>]+)>?(?:\s+["'(].*)?$/

/**
 * Returns the links of a document, whose own address may be unknown. Only web pages, mail addresses and phone numbers
 * can be followed from elsewhere.
 */
export function linksOf(lines: readonly string[], page: string | null): Links {
  const defined = new Map<string, string>()
  for (const line of lines) {
    const [, name, href] = DEFINITION.exec(line) ?? []
    if (name && href) defined.set(name.trim().toLowerCase(), href)
  }
  return { defined, addressOf: (href) => linkAddress(href, page) }
}

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
  return address.length <= LONGEST_ADDRESS ? address : null
}

export const isDefinition = (line: string): boolean => DEFINITION.test(line)
