export type InputRow = { name: string; type: string; description: string; required: boolean }
type Schema = Record<string, unknown>

export const INPUT_TYPES = [
  ['string', 'Text'],
  ['number', 'Number'],
  ['integer', 'Whole number'],
  ['boolean', 'Yes or no'],
] as const

/** Returns the inputs as rows of a form; null for a schema that rows cannot represent. */
export function rowsOf(schema: Schema): InputRow[] | null {
  const { type, properties = {}, required = [], additionalProperties: _, ...more } = schema
  if (type !== 'object' || Object.keys(more).length > 0) return null
  const rows = Object.entries(properties as Record<string, Schema>).map(([name, property]) => {
    const { type: kind, description = '', ...rest } = property
    const isPlain = Object.keys(rest).length === 0 && INPUT_TYPES.some(([id]) => id === kind)
    return isPlain
      ? {
          name,
          type: String(kind),
          description: String(description),
          required: (required as string[]).includes(name),
        }
      : null
  })
  return rows.every((row) => row !== null) ? rows : null
}

export const schemaOf = (rows: InputRow[]): Schema => ({
  type: 'object',
  properties: Object.fromEntries(
    rows
      .filter(({ name }) => name.trim() !== '')
      .map(({ name, type, description }) => [
        name.trim(),
        description.trim() ? { type, description: description.trim() } : { type },
      ]),
  ),
  required: rows
    .filter(({ name, required }) => required && name.trim() !== '')
    .map(({ name }) => name.trim()),
})

/**
 * Converts text from a field to a value of the given type. Text that cannot be converted is returned as it is, and the
 * service rejects it.
 */
export function inputValueOf(type: string, text: string): unknown {
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (type === 'string') return text
  const number = Number(text)
  return Number.isNaN(number) ? text : number
}
