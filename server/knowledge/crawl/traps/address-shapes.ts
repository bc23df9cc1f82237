/** Folders below this depth do not make a shape of their own. */
const MAX_DEPTH = 4
const ANYTHING = '…'

/**
 * Returns the shapes that an address has, the most specific first: its path and the names in its query, its path with any
 * query, and the folders that it is in. A part of a path with a digit may be anything.
 */
export function shapesOf({ pathname, searchParams }: URL): string[] {
  const parts = pathname
    .split('/')
    .slice(1)
    .map((part) => templateOf(part))
  const path = `/${parts.join('/')}`
  const names = [...new Set(searchParams.keys())].sort()
  const folders = parts
    .slice(0, -1)
    .slice(0, MAX_DEPTH)
    .map((_, at) => `/${parts.slice(0, at + 1).join('/')}/*`)
  const last = parts.at(-1) ?? ''
  return [
    ...(names.length > 0 ? [`${path}?${names.map(unnamed).join('&')}`, `${path}?${ANYTHING}`] : []),
    ...(names.length === 0 && last.includes(ANYTHING) ? [path] : []),
    ...folders.reverse(),
  ]
}

/** What follows a semicolon in a part of a path belongs to the visit, not to the page. */
const templateOf = (part: string): string => {
  const [own = '', ...more] = part.split(';')
  const template = /\p{N}/u.test(own) ? ANYTHING : own
  return more.length > 0 ? `${template};${ANYTHING}` : template
}

const unnamed = (name: string): string => `${name}=${ANYTHING}`

/** An address without one of the values in its query. */
export type Variant = {
  /** What the value belongs to: the whole website, or one path. */
  keys: string[]
  /** The address without the value. */
  rest: string
}

/** Returns the variants of an address without each of the values in its query, and without all of them. */
export function variantsOf(url: URL): Variant[] {
  const names = [...new Set(url.searchParams.keys())]
  const variants = names.map((name) => ({ keys: keysOf(url, name), rest: without(url, [name]) }))
  return names.length > 1
    ? [...variants, { keys: [`${url.pathname}?${ANYTHING}`], rest: without(url, names) }]
    : variants
}

const keysOf = ({ pathname }: URL, name: string): string[] => [
  `${ANYTHING}?${unnamed(name)}`,
  `${pathname}?${unnamed(name)}`,
]

export function without(url: URL, names: readonly string[]): string {
  const rest = new URL(url)
  // Deleting what is not there may write the others in another way.
  for (const name of names) if (rest.searchParams.has(name)) rest.searchParams.delete(name)
  return rest.href
}
