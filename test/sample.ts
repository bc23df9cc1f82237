/** The subset of JSON Schema that the contracts use. */
export type Schema = {
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  oneOf?: Schema[]
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  patternProperties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  items?: Schema
  default?: unknown
  minLength?: number
  minItems?: number
  minimum?: number
  format?: string
}

/** Returns the smallest value that a schema accepts, with only the required members. */
export function sampleOf(schema: Schema): unknown {
  if ('const' in schema) return schema.const
  if (schema.enum) return schema.enum[0]
  const alternative = schema.oneOf?.[0] ?? schema.anyOf?.[0]
  if (alternative) return sampleOf(alternative)
  switch (typesOf(schema)[0]) {
    case 'object': {
      const required = (schema.required ?? []).filter(
        (name) => !('default' in (schema.properties?.[name] ?? {})),
      )
      return Object.fromEntries(required.map((name) => [name, sampleOf(schema.properties?.[name] ?? {})]))
    }
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items ?? {}))
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    default:
      if (schema.format === 'email') return 'a@example.com'
      if (schema.format === 'date-time' || schema.format === 'day-or-time') return '2026-01-01T00:00:00.000Z'
      return 'x'.repeat(Math.max(1, schema.minLength ?? 1))
  }
}

export const typesOf = ({ type }: Schema): string[] => (type === undefined ? [] : [type].flat())

/**
 * A string or number somewhere in a value. `name` is the member that holds it, and `fill` returns the smallest value
 * with another string or number in its place.
 */
type Leaf = { name: string; trail: string; fill(value: unknown): unknown }

/**
 * Returns every string and number that a value of the schema may contain, in members, lists and alternatives. Where an
 * object may have members of any name, it has one of each of the `names`.
 */
export function leavesOf(schema: Schema, names: readonly string[] = [], name = ''): Leaf[] {
  const alternatives = schema.oneOf ?? schema.anyOf
  if (alternatives) return alternatives.flatMap((each) => leavesOf(each, names, name))
  if (schema.enum || 'const' in schema) return []
  const types = typesOf(schema)
  const within = (leaf: Leaf, step: string, fill: (value: unknown) => unknown): Leaf => ({
    name: leaf.name,
    trail: leaf.trail ? `${step}.${leaf.trail}` : step,
    fill,
  })
  const free = freeMemberOf(schema)
  const freeMembers = free ? names.map((key) => [key, free] as const) : []
  const members = [...freeMembers, ...Object.entries(schema.properties ?? {})].flatMap(([key, part]) =>
    leavesOf(part, names, key).map((leaf) =>
      within(leaf, key, (value) => ({ ...(sampleOf(schema) as object), [key]: leaf.fill(value) })),
    ),
  )
  const { items } = schema
  const elements = items
    ? leavesOf(items, names, name).map((leaf) => within(leaf, '[]', (value) => [leaf.fill(value)]))
    : []
  const isLeaf = types.includes('string') || types.includes('integer')
  return [...members, ...elements, ...(isLeaf ? [{ name, trail: '', fill: (value: unknown) => value }] : [])]
}

/** Returns the schema of members that may have any name: a text where they may be anything; null where there are none. */
function freeMemberOf(schema: Schema): Schema | null {
  const { properties, patternProperties, additionalProperties } = schema
  const types = typesOf(schema)
  if (types.length > 0 && !types.includes('object')) return null
  const [member = additionalProperties ?? properties === undefined] = Object.values(patternProperties ?? {})
  if (member === false) return null
  return member === true || Object.keys(member).length === 0 ? { type: 'string' } : member
}

/** Returns a value of none of the schema's types, or undefined if every type is accepted. */
export function wrongTypeOf(schema: Schema): unknown {
  const types = schema.enum || 'const' in schema ? ['string'] : typesOf(schema)
  if (types.length === 0 && !schema.oneOf && !schema.anyOf) return undefined
  if (!types.includes('boolean')) return true
  return 'not a boolean'
}
