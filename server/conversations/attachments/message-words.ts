type Named = { name: string; isPartOfMail?: true }

/**
 * Returns the text of a message for the agent, search and exports: the typed text, followed by the names of the
 * files.
 */
export const wordsOf = (text: string, files: readonly Named[]): string =>
  [text, ...namesOf(files)].filter(Boolean).join('\n')

/** Removes the names of the files again, since the files are shown separately. */
export function typedOf(words: string, files: readonly Named[]): string {
  const names = namesOf(files).join('\n')
  return names !== '' && words.endsWith(names) ? words.slice(0, -names.length).trimEnd() : words
}

const namesOf = (files: readonly Named[]): string[] =>
  files.filter(({ isPartOfMail }) => !isPartOfMail).map(({ name }) => `[${name}]`)
