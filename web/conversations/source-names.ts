/** The sources of conversations that can be chosen, with the names of their channels. */
export const SOURCES = [
  ['API', 'API'],
  ['Widget or Iframe', 'Website chat'],
  ['Messaging', 'Messaging'],
  ['Email', 'Email'],
  ['Playground', 'Playground'],
] as const

const NAMES = new Map<string, string>(SOURCES)

export const sourceName = (source: string): string => NAMES.get(source) ?? source
