/** Returns the fields of an object, of which nothing else is known; another value has none. */
export const recordOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {})

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** Returns the code of an error of the operating system, the database or a library. */
export function codeOf(error: unknown): string | undefined {
  const { code } = recordOf(error)
  return typeof code === 'string' ? code : undefined
}

/** Returns the message of whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
