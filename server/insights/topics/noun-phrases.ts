import { isDense } from '../../text/languages/dense-script.ts'
import { guessLanguageOfWords, type Language } from '../../text/languages/language.ts'
import type { Stemmer } from '../../text/languages/stem.ts'
import { isStopWord } from '../../text/languages/stop-words.ts'
import { splitWords } from '../../text/words/words.ts'
import { stemKey } from './topic-key.ts'

type Phrase = { key: string; label: string }

/** Words that precede a noun; in English also verbs that take one as an object. */
const OPENERS: Record<'en' | 'de', ReadonlySet<string>> = {
  en: new Set(
    `a about an any at by each every for from her his in its my no of on or other our out over some that the their these
    this those under with without your which what new
    accept buy cancel change find get have need offer order return sell support use want`.split(/\s+/),
  ),
  de: new Set(
    `am an auf aus bei beim das dein deine deinem deinen deiner dem den der des die dies diese diesem diesen dieser dieses
    ein eine einem einen einer eines für gegen ihr ihre ihrem ihren ihrer im in kein keine keinen mein meine meinem meinen
    meiner meines mit nach ohne über um unser unsere vom von vor wegen zum zur welche welcher welches`.split(
      /\s+/,
    ),
  ),
}
/** Nouns that say nothing about the subject. */
const EMPTY = new Set(
  `agent answer anything bit bot case chat customer day days email everything example fact guys hour hours human idea info
  information issue issues kind lot mail message minute minutes moment month months morning name one ones people person
  place point problem problems question questions reason reply service something stuff support team thing things time
  times today tomorrow way week weeks year years yesterday help hi hello
  anfrage antwort beispiel bot chat dame damen ding dinge frage fragen grund gruß grüße herr herren hilfe info
  information informationen jahr jahre kunde kundin leute mail mal mensch minute minuten moment monat monate morgen
  nachricht name person problem probleme sache sachen service stunde stunden support tag tage team thema uhr weg woche
  wochen zeit heute gestern idee kundenservice`.split(/\s+/),
)
const MOST_PHRASES = 8
/** A message with this many words or fewer is often nothing but the noun. */
const BARE = 3

/**
 * Returns what the messages may be about: nouns of one or two words, as far as the words around them reveal them (an
 * article, a preposition, a German capital). Returns at most eight, the most frequent first and longer ones before
 * shorter.
 */
export function nounPhrases(messages: readonly string[], stem: Stemmer): Phrase[] {
  const found = new Map<string, Phrase & { count: number; words: number }>()
  for (const text of messages) {
    for (const { words, language } of runsOf(text.slice(0, 4_000))) {
      for (const length of [2, 1]) {
        const taken = words.slice(-length)
        if (taken.length < length || taken.some((word) => EMPTY.has(word.toLowerCase()))) continue
        const key = stemKey(splitWords(taken.join(' ')), language, stem)
        if (key.length < 3) continue
        const known = found.get(key)
        if (known) known.count++
        else found.set(key, { key, label: taken.join(' '), count: 1, words: length })
      }
    }
  }
  return [...found.values()]
    .sort((a, b) => b.count - a.count || b.words - a.words)
    .slice(0, MOST_PHRASES)
    .map(({ key, label }) => ({ key, label }))
}

type Run = { words: string[]; language: Language }

/** A sequence of words that ends with the noun. */
function runsOf(text: string): Run[] {
  const language = guessLanguageOfWords(splitWords(text))
  const openers =
    language === 'en' || language === 'de' ? OPENERS[language] : new Set([...OPENERS.en, ...OPENERS.de])
  return text.split(/[.!?,;:()\n"“”„]+/).flatMap((sentence): Run[] => {
    const tokens = sentence.match(/[\p{L}\p{M}\p{N}]+(?:[-'’][\p{L}\p{M}]+)*/gu) ?? []
    const words = tokens.filter((token) => !isWeak(token, language))
    if (words.length === tokens.length && words.length <= BARE && words.length > 0)
      return words.some(isDense) ? [] : [{ words, language }]
    const runs: Run[] = []
    let open: string[] | null = null
    const close = () => {
      if (open && open.length > 0) runs.push({ words: open, language })
      open = null
    }
    for (const [i, token] of tokens.entries()) {
      const lower = token.toLowerCase()
      const isNoun = language === 'de' && i > 0 && /^\p{Lu}\p{Ll}/u.test(token)
      if (openers.has(lower)) {
        close()
        open = []
      } else if (isWeak(token, language)) close()
      else if (open) {
        // German adjectives are in lower case, so the word after a capitalised one is the verb.
        if (language === 'de' && open.length > 0 && !isNoun && /^\p{Lu}/u.test(open.at(-1)!)) close()
        else if (open.length === BARE) close()
        else open.push(token)
      } else if (isNoun) open = [token]
    }
    close()
    return runs
  })
}

const isWeak = (token: string, language: Language): boolean => {
  const word = token.toLowerCase().replace(/['’]/g, '')
  return (
    word.length < 3 ||
    isDense(word) ||
    /\d/.test(word) ||
    (language === 'other' ? isStopWord(word, 'en') || isStopWord(word, 'de') : isStopWord(word, language))
  )
}
