import type { TSchema } from 'typebox'
import { recordOf } from '../../unknown-values.ts'

export type Json = Record<string, unknown>

/** The keywords that are for internal use. */
const OWN_KEYWORDS = new Set(['refusal', 'rule'])
const INT32 = 2_147_483_647

export type SchemaWriter = {
  /** Returns the schema of what a client sends. `open` means that unknown members are allowed. */
  sent(schema: unknown, open?: boolean): unknown
  /** Returns the schema of what the service sends. */
  answered(schema: unknown): unknown
}

/** Writes schemas for the document. Those with a name are written once, among the components, and referred to. */
export function schemaWriter(named: Record<string, TSchema>): SchemaWriter {
  const names = new Map<unknown, string>(Object.entries(named).map(([name, schema]) => [schema, name]))
  return {
    sent: (schema, open = false) => shown(schema, { names: new Map(), open, isSent: true }),
    answered: (schema) => shown(schema, { names, open: false, isSent: false }),
  }
}

/** Returns the named schemas. */
export function componentSchemas(named: Record<string, TSchema>): Json {
  return Object.fromEntries(
    Object.entries(named).map(([name, schema]) => {
      const names = new Map<unknown, string>(
        Object.entries(named)
          .filter(([other]) => other !== name)
          .map(([other, each]) => [each, other]),
      )
      return [name, shown(schema, { names, open: false, isSent: false })]
    }),
  )
}

type Manner = { names: Map<unknown, string>; open: boolean; isSent: boolean }

function shown(schema: unknown, manner: Manner): unknown {
  if (Array.isArray(schema)) return schema.map((each) => shown(each, manner))
  if (typeof schema !== 'object' || schema === null) return schema
  const name = manner.names.get(schema)
  if (name !== undefined) return refTo(name)
  const copy: Json = {}
  for (const [key, value] of Object.entries(schema))
    if (!OWN_KEYWORDS.has(key)) copy[key] = key === 'enum' || key === 'default' ? value : shown(value, manner)
  const properties = recordOf(copy.properties)
  // Members with defaults are optional.
  if (copy.properties && Array.isArray(copy.required) && manner.isSent)
    copy.required = copy.required.filter((member) => !('default' in recordOf(properties[member])))
  if (manner.open && copy.additionalProperties === false) delete copy.additionalProperties
  return withFormat(withMapping(copy, recordOf(schema)))
}

const refTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })

/** A discriminator needs named alternatives. Others are distinguished by their constants. */
function withMapping(copy: Json, schema: Json): Json {
  const { discriminator, oneOf, ...rest } = copy as {
    discriminator?: { propertyName: string }
    oneOf?: Json[]
  }
  if (!discriminator || !oneOf) return copy
  const { propertyName } = discriminator
  const tagged = schema.oneOf as { properties: Record<string, { const: string }> }[]
  const mapping = Object.fromEntries(
    oneOf.map(({ $ref }, at) => [tagged[at]?.properties[propertyName]?.const, $ref]),
  )
  const hasNames = oneOf.every((alternative) => '$ref' in alternative)
  return { ...rest, oneOf, ...(hasNames ? { discriminator: { propertyName, mapping } } : {}) }
}

function withFormat(schema: Json): Json {
  const { type, format, minimum, maximum } = schema as {
    type?: string | string[]
    format?: string
    minimum?: number
    maximum?: number
  }
  if (format === 'day-or-time') {
    const { format: _, ...rest } = schema
    return { ...rest, maxLength: 40, examples: ['2026-01-31'] }
  }
  if (![type].flat().includes('integer') || 'enum' in schema) return schema
  const isSmall = minimum !== undefined && minimum >= -INT32 && maximum !== undefined && maximum <= INT32
  return { ...schema, format: isSmall ? 'int32' : 'int64' }
}
