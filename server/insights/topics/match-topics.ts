import { isDense } from '../../text/languages/dense-script.ts'
import { guessLanguageOfWords, type Language } from '../../text/languages/language.ts'
import type { Stemmer } from '../../text/languages/stem.ts'
import { isStopWord } from '../../text/languages/stop-words.ts'
import { foldText, splitWords } from '../../text/words/words.ts'

type KnownTopic = { id: string; name: string; aliases: readonly string[] }

/** The most topics of a conversation. */
export const MOST_TOPICS = 3
/** From this length on, a German word that begins with another one is taken for a compound of it. */
const COMPOUND = 5
const ALTERNATIVES = /\s*(?:[&/,;|+]|\b(?:and|or|und|oder)\b)\s*/iu

/**
 * Returns the topics of a customer's messages, best first: those for which one message has all words of the name or an
 * alias, in any inflection. "Billing & invoices" counts as two names.
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

/**
 * A message in two languages, or with only three words, does not reveal its language, so the stems of both are searched
 * for.
 */
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
