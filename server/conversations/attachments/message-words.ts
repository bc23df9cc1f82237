type Named = { name: string }

/**
 * Returns the text of a message for the agent, search and exports: the typed text, followed by the names of the
 * files.
 */
export const wordsOf = (text: string, files: readonly Named[]): string =>
  [text, ...files.map(namedIn)].filter(Boolean).join('\n')

/** Removes the names of the files again, since the files are shown separately. */
export function typedOf(words: string, files: readonly Named[]): string {
  const names = files.map(namedIn).join('\n')
  return names !== '' && words.endsWith(names) ? words.slice(0, -names.length).trimEnd() : words
}

const namedIn = ({ name }: Named): string => `[${name}]`
