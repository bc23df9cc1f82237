import { isTooLong } from '../failures/model-failure.ts'

/**
 * The settings and schema keywords that a server refuses, by their names in the body. The value is the name to send
 * instead, or null to leave the setting out.
 */
export type Refused = ReadonlyMap<string, string | null>

type Body = Record<string, unknown>

/** Members that every request needs, or that contain the words of a conversation. */
const ESSENTIAL = new Set([
  'model',
  'stream',
  'messages',
  'input',
  'contents',
  'system',
  'systemInstruction',
  'tools',
])
/** The keywords of a schema whose own keys are names that somebody chose. */
const HOLD_NAMES = new Set(['properties', 'patternProperties', '$defs', 'definitions'])
const MAX_SAID_LENGTH = 20_000

/** Returns the settings in the body that an error of the server names, for whatever reason. */
export function namedIn(said: string, body: Body): Refused {
  const text = stringsOf(said.slice(0, MAX_SAID_LENGTH))
  // A prompt that is too long is not a matter of one setting, although servers name some that add to its length.
  if (isTooLong(text)) return new Map()
  const words = new Set((text.match(/[a-z_]\w*/gi) ?? []).map(plain))
  const quoted = new Set(
    [...text.matchAll(/["'`]([\w$.[\]/-]+)["'`]/g)].flatMap(([, path = '']) =>
      path.split(/[.[\]/]/).map(plain),
    ),
  )
  const named = new Map<string, string | null>()
  for (const name of settingsOf(body, (one) => words.has(plain(one)))) {
    const isRenamed = name === 'max_tokens' && words.has(plain('max_completion_tokens'))
    named.set(name, isRenamed ? 'max_completion_tokens' : null)
  }
  // Keywords such as "format" are words of ordinary sentences as well.
  trimmed(body.tools, (keyword) => {
    if (quoted.has(plain(keyword))) named.set(keyword, null)
    return false
  })
  return named
}

/** Returns the body without what is refused. */
export function without(body: Body, refused: Refused): Body {
  if (refused.size === 0) return body
  const { tools, ...rest } = body
  return {
    ...renamed(rest, refused, (value) => (isObject(value) ? renamed(value, refused) : value)),
    ...(tools === undefined ? {} : { tools: trimmed(tools, (keyword) => refused.get(keyword) === null) }),
  }
}

/** Describes what is sent differently; empty if nothing is. */
export function describeRefused(refused: Refused): string {
  const changes = [...refused].map(([name, instead]) =>
    instead ? `with ${instead} for ${name}` : `without ${name}`,
  )
  return changes.join(' and ')
}

function renamed(body: Body, refused: Refused, inner = (value: unknown): unknown => value): Body {
  const entries: [string, unknown][] = []
  for (const [key, value] of Object.entries(body)) {
    let name: string | null = key
    if (!ESSENTIAL.has(key)) while (name !== null && refused.has(name)) name = refused.get(name) ?? null
    if (name !== null) entries.push([name, ESSENTIAL.has(key) ? value : inner(value)])
  }
  return Object.fromEntries(entries)
}

/**
 * Returns the names of the settings that are said. Some providers put settings into groups; a group is left out as a
 * whole only when none of what it holds is said.
 */
const settingsOf = (body: Body, isSaid: (name: string) => boolean): string[] =>
  Object.entries(body).flatMap(([name, value]) => {
    if (ESSENTIAL.has(name) || value === undefined) return []
    // "type" is a word of ordinary sentences, and no group makes sense without it.
    const within = isObject(value) ? Object.keys(value).filter((one) => one !== 'type' && isSaid(one)) : []
    return within.length > 0 ? within : isSaid(name) ? [name] : []
  })

/** Returns the tools without the keywords of their schemas for which `drop` returns true. */
function trimmed(
  value: unknown,
  drop: (keyword: string) => boolean,
  isSchema = false,
  areNames = false,
): unknown {
  if (Array.isArray(value)) return value.map((one) => trimmed(one, drop, isSchema))
  if (!isObject(value)) return value
  const inSchema = isSchema || value.type === 'object'
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      const isKeyword = inSchema && !areNames && key !== 'type'
      const holdsNames = isKeyword && HOLD_NAMES.has(key)
      return isKeyword && !holdsNames && drop(key) ? [] : [[key, trimmed(inner, drop, inSchema, holdsNames)]]
    }),
  )
}

/** Returns the texts of a JSON body, without its keys, or the body itself when it is no JSON. */
function stringsOf(said: string): string {
  const strings: string[] = []
  try {
    JSON.parse(said, (_, value) => {
      if (typeof value === 'string') strings.push(`"${value}"`)
      return value
    })
  } catch {
    return said
  }
  return strings.join('\n')
}

/** The same setting is spelled with underscores by one provider and with capitals by another. */
const plain = (name: string): string => name.replaceAll('_', '').toLowerCase()

const isObject = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
