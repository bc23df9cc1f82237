import type { Stemmer } from '../../text/languages/stem.ts'
import { splitWords } from '../../text/words/words.ts'
import { NO_TOPIC, stemKey, topicKey } from './topic-key.ts'

/** The keys under which a name may be found in texts. */
export const formsOfName = (name: string, stem: Stemmer): string[] => {
  const words = splitWords(name)
  return [...new Set([topicKey(name), stemKey(words, 'en', stem), stemKey(words, 'de', stem)])]
}

/** Returns the keys that no new topic may have: those of existing topics, of merged topics, and of deleted ones. */
export function takenKeys(
  topics: readonly { name: string; aliases: readonly string[] }[],
  declined: readonly string[],
  stem: Stemmer,
): Set<string> {
  const names = topics.flatMap(({ name, aliases }) => [name, ...aliases])
  return new Set([NO_TOPIC, ...declined, ...names.flatMap((name) => formsOfName(name, stem))])
}
