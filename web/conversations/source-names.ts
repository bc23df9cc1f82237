import { channelNames } from '../../server/agents/settings/channel-names.ts'

/** The sources of conversations that can be chosen, with the names of their channels. */
export const SOURCES = [
  ['API', 'API'],
  ['Widget or Iframe', 'Website chat'],
  ...channelNames.map(({ source, label }) => [source, label] as const),
  ['Playground', 'Playground'],
] as const

const NAMES = new Map<string, string>(SOURCES)

export const sourceName = (source: string): string => NAMES.get(source) ?? source
