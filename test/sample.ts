/** A JSON schema, as far as the contracts use it. */
export type Schema = {
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  oneOf?: Schema[]
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  default?: unknown
  minLength?: number
  minItems?: number
  minimum?: number
  format?: string
}

/** The smallest value that a schema accepts: required members only. */
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
      return schema.format === 'email' ? 'a@example.com' : 'x'.repeat(Math.max(1, schema.minLength ?? 1))
  }
}

export const typesOf = ({ type }: Schema): string[] => (type === undefined ? [] : [type].flat())

/** A value of none of the schema's types; undefined where everything is accepted. */
export function wrongTypeOf(schema: Schema): unknown {
  const types = schema.enum || 'const' in schema ? ['string'] : typesOf(schema)
  if (types.length === 0 && !schema.oneOf && !schema.anyOf) return undefined
  if (!types.includes('boolean')) return true
  return 'not a boolean'
}
