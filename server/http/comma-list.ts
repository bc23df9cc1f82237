/** The values of a comma-separated parameter, trimmed, each once. */
export const commaList = (text: string | undefined): string[] => [
  ...new Set(
    (text ?? '')
      .split(',')
      .map((value) => value.trim())
      .filter((value) => value !== ''),
  ),
]
