/** Offers text as a file to save. */
export function saveFile(name: string, parts: string[], type: string): void {
  const url = URL.createObjectURL(new Blob(parts, { type: `${type};charset=utf-8` }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  document.body.append(link)
  link.click()
  link.remove()
  // Some browsers begin to read the file only after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** An export ends with a line that marks it as complete; without that line, the connection broke off. */
export class CutOff extends Error {
  constructor() {
    super('The export was cut off. Try again.')
  }
}

type Line = { type: string }

/** Collects the lines of an export, as converted by `write`. Throws CutOff when the last line is missing. */
export async function collect<L extends Line>(
  lines: AsyncGenerator<Line, void>,
  write: (line: L) => string,
): Promise<string[]> {
  const parts: string[] = []
  let isWhole = false
  for await (const line of lines) {
    isWhole = line.type === 'end'
    parts.push(write(line as L))
  }
  if (!isWhole) throw new CutOff()
  return parts
}

export const asJsonLine = (line: unknown): string => `${JSON.stringify(line)}\n`
