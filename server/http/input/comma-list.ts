/** The values of a comma-separated parameter, trimmed, each once. */
export const commaList = (text: string | undefined): string[] => [
  ...new Set(
    (text ?? '')
      .split(',')
      .map((value) => value.trim())
      .filter((value) => value !== ''),
  ),
]

/** Says what is wrong with a list without a value, or with another one than the known, when there are any. */
export function problemOfList(text: string, known: readonly string[]): string | null {
  const values = commaList(text)
  if (values.length === 0) return 'Must hold at least one value.'
  const unknown = values.find((value) => !known.includes(value))
  return known.length === 0 || unknown === undefined
    ? null
    : `${JSON.stringify(unknown)} is not known here. Use a comma-separated list of: ${known.join(', ')}.`
}
