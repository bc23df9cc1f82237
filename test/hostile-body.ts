import { type Schema, typesOf } from './sample.ts'

/** Returns a generator of numbers from 0 to 1 that is deterministic for each seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const deep = (levels: number): unknown => {
  let value: unknown = 'x'
  for (let i = 0; i < levels; i++) value = i % 2 ? [value] : { a: value }
  return value
}

/** Hostile values as JSON texts, because some of them cannot be written as JavaScript values. */
const HOSTILE = [
  'null',
  'true',
  '-1',
  '0',
  '1e308',
  '1e400',
  '-1e400',
  '9007199254740993',
  '2147483648',
  '9223372036854775808',
  '0.1',
  '-0',
  '""',
  '" "',
  '"\\u0000"',
  '"\\ud800"',
  '"x\\udc00x"',
  '"\\u202e\\ufeff"',
  '"constructor"',
  '"__proto__"',
  '"+275760-09-13T00:00:00.000Z"',
  '"0000-01-01"',
  '"00000000-0000-0000-0000-000000000000"',
  '"ffffffff-ffff-ffff-ffff-ffffffffffff"',
  `"'; drop table accounts; --"`,
  '"../../../../etc/passwd"',
  '"%00%ff"',
  '"http://169.254.169.254/"',
  '"file:///etc/passwd"',
  '"http://[::ffff:a9fe:a9fe]/"',
  '"(a+)+$"',
  '"{{constructor}}"',
  '"<script>alert(1)</script>"',
  '"a@b@c"',
  '"=1+1"',
  `"${'x'.repeat(100_000)}"`,
  `"${'é'.repeat(513)}"`,
  '[]',
  '{}',
  '[[]]',
  '[null]',
  '["x","x"]',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"toString":1}',
  '{"length":-1}',
  '{"a":1,"a":2}',
  JSON.stringify(deep(200)),
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  `[${Array(3_000).fill('1').join()}]`,
]

const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  ' ',
  'é',
  '\u0000',
  '0',
  'a.b',
  '$ref',
]

/**
 * Returns a random body as JSON text. Most of it follows the schema; some values are replaced with hostile ones, and
 * members with hostile values are added. `idOf` returns an existing id for the name of a field that takes one.
 */
export function hostileBody(
  schema: Schema,
  random: () => number,
  idOf: (name: string) => string | undefined,
): string {
  const pick = <T>(values: T[]): T => values[Math.floor(random() * values.length)] as T
  // The probability that a value is hostile. Most of the body has to be valid, or no code behind the schema is reached.
  const rate = pick([0.05, 0.15, 0.4])
  const write = (part: Schema, name: string): string => {
    if (random() < rate) return pick(HOSTILE)
    if ('const' in part) return JSON.stringify(part.const)
    if (part.enum) return JSON.stringify(pick(part.enum))
    const alternatives = part.oneOf ?? part.anyOf
    if (alternatives) return write(pick(alternatives), name)
    switch (pick(typesOf(part))) {
      case 'object':
        return writeObject(part)
      case 'array':
        return `[${Array.from({ length: Math.max(part.minItems ?? 0, Math.floor(random() * 3)) }, () => write(part.items ?? {}, name)).join()}]`
      case 'integer':
      case 'number':
        return String(part.minimum ?? 1)
      case 'boolean':
        return pick(['true', 'false'])
      case 'null':
        return 'null'
      case 'string':
        return JSON.stringify(idOf(name) ?? textOf(part))
      default:
        return pick(HOSTILE)
    }
  }
  const writeObject = ({ properties = {}, required = [] }: Schema): string => {
    const members = Object.entries(properties)
      .filter(([name]) => required.includes(name) || random() < 0.6)
      .map(([name, part]) => [name, write(part, name)] as const)
    if (random() < rate) members.push([pick([...NAMES, ...Object.keys(properties)]), pick(HOSTILE)])
    return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join()}}`
  }
  return write(schema, '')
}

function textOf({ format, minLength = 1 }: Schema): string {
  if (format === 'email') return 'a@example.com'
  if (format === 'date' || format === 'day-or-time') return '2026-01-01'
  return 'x'.repeat(Math.max(1, minLength))
}

/** Returns a hostile text for a parameter of a URL. */
export function hostileText(random: () => number): string {
  const text = HOSTILE[Math.floor(random() * HOSTILE.length)] ?? ''
  const value = text.startsWith('"') ? (JSON.parse(text) as string) : text
  // Longer texts are rejected before they are parsed.
  return value.toWellFormed().slice(0, 2_000)
}
