import type { Language } from '../../../text/languages/language.ts'
import { splitWords } from '../../../text/words/words.ts'

/** The parts of separable verbs, which end a clause: "Wie stelle ich die Datei wieder her?" is about "wiederherstellen". */
const PARTS: Partial<Record<Language, ReadonlySet<string>>> = {
  de: new Set(
    `ab an auf aus bei ein fest fort frei her heraus herunter hin hinzu hoch los mit nach um vor weg weiter wieder zu
    zurück zusammen`.split(/\s+/),
  ),
  nl: new Set('aan af bij door in mee na om op over samen terug toe uit vast voor weer weg'.split(/\s+/)),
}
const MOST_PARTS = 2
const MOST_CLAUSES = 10

/**
 * Returns for each word of a question the whole verbs that it may be a part of, whether or not such a verb exists.
 */
export function wholeVerbs(question: string, language: Language): Map<string, string[]> {
  const verbs = new Map<string, string[]>()
  const parts = PARTS[language]
  if (!parts) return verbs
  for (const clause of question.split(/[.,;:!?]/).slice(0, MOST_CLAUSES)) {
    const words = splitWords(clause)
    let from = words.length
    while (from > 1 && words.length - from < MOST_PARTS && parts.has(words[from - 1]!)) from--
    if (from === words.length) continue
    const part = words.slice(from).join('')
    for (const word of words.slice(0, from)) verbs.set(word, [...(verbs.get(word) ?? []), part + word])
  }
  return verbs
}
