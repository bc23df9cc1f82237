import { isDense } from '../../text/languages/dense-script.ts'
import { guessLanguageOfWords, type Language } from '../../text/languages/language.ts'
import type { Stemmer } from '../../text/languages/stem.ts'
import { isStopWord } from '../../text/languages/stop-words.ts'
import { foldText, splitWords } from '../../text/words/words.ts'

type KnownTopic = { id: string; name: string; aliases: readonly string[] }

/** A conversation has at most so many topics. */
export const MOST_TOPICS = 3
/** A German word that begins with one so long is a compound of it. */
const COMPOUND = 5
const ALTERNATIVES = /\s*(?:[&/,;|+]|\b(?:and|or|und|oder)\b)\s*/iu

/**
 * The topics of what a customer said, best first: those with all words of their name, or of an alias, in one message,
 * in any form. "Billing & invoices" are two names.
 */
export function matchTopics(
  topics: readonly KnownTopic[],
  messages: readonly string[],
  stem: Stemmer,
): KnownTopic[] {
  const said = messages.map((text) => {
    const words = splitWords(text.slice(0, 4_000))
    const language = guessLanguageOfWords(words)
    return { folded: foldText(text.slice(0, 4_000)), words, stems: formsOf(words, language, stem) }
  })
  return topics
    .map((topic, place) => {
      const names = [topic.name, ...topic.aliases].flatMap((name) => name.split(ALTERNATIVES))
      const wanted = names.map((name) => splitWords(name)).filter((words) => words.length > 0)
      const hits = said.filter((message) => wanted.some((words) => holds(message, words, stem))).length
      const length = Math.max(0, ...wanted.map((words) => words.length))
      return { topic, hits, length, place }
    })
    .filter(({ hits }) => hits > 0)
    .sort((a, b) => b.hits - a.hits || b.length - a.length || a.place - b.place)
    .slice(0, MOST_TOPICS)
    .map(({ topic }) => topic)
}

type Message = { folded: string; words: string[]; stems: ReadonlySet<string> }

/** A message in two languages, or of three words, tells little of its language: both stems are looked for. */
function formsOf(words: readonly string[], language: Language, stem: Stemmer): Set<string> {
  const languages: Language[] = language === 'other' ? ['en', 'de'] : [language]
  return new Set([...words, ...languages.flatMap((one) => words.map((word) => stem(word, one)))])
}

function holds(message: Message, wanted: readonly string[], stem: Stemmer): boolean {
  const telling = wanted.filter((word) => !isStopWord(word, 'en') && !isStopWord(word, 'de'))
  return (telling.length > 0 ? telling : wanted).every((word) => {
    if (isDense(word)) return message.folded.includes(word)
    if ([word, stem(word, 'en'), stem(word, 'de')].some((form) => message.stems.has(form))) return true
    const root = stem(word, 'de')
    return root.length >= COMPOUND && message.words.some((other) => other.startsWith(root))
  })
}
