/**
 * The folders of server/, from the lowest layer to the highest. An entry with two names, such as `people/records`, is a
 * part of a folder that has a layer of its own.
 */
export const LAYERS: string[] = [
  'platform',
  'ai',
  'accounts',
  'agents',
  'people/records',
  'knowledge',
  'actions',
  'conversations',
  'inbox',
  'people',
  'channels',
  'admin',
  'v1',
]

/** Returns the layer of a folder or file below server/, such as `agents/routes.ts`, or null if it has none. */
export function layerOf(path: string): number | null {
  const [folder = '', part = ''] = path.split('/')
  const layer = LAYERS.indexOf(`${folder}/${part}`)
  const found = layer === -1 ? LAYERS.indexOf(folder) : layer
  return found === -1 ? null : found
}
