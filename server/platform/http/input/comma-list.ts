/** Returns the distinct, trimmed values of a comma-separated parameter. */
export const commaList = (text: string | undefined): string[] => [
  ...new Set(
    (text ?? '')
      .split(',')
      .map((value) => value.trim())
      .filter((value) => value !== ''),
  ),
]

/**
 * Returns a sentence for a list that is empty or contains an unknown value. If `known` is empty, all values are
 * accepted.
 */
export function problemOfList(text: string, known: readonly string[]): string | null {
  const values = commaList(text)
  if (values.length === 0) return 'Must contain at least one value.'
  const unknown = values.find((value) => !known.includes(value))
  return known.length === 0 || unknown === undefined
    ? null
    : `${JSON.stringify(unknown)} is not known here. Use a comma-separated list of: ${known.join(', ')}.`
}
