import { similarityOfRows } from '../../models/static/word-vectors.ts'
import type { Language } from '../../text/language.ts'
import { characterNGrams } from '../../text/n-grams.ts'
import { termsOfWord } from '../../text/terms.ts'
import type { AnalysedQuestion } from './analyse-question.ts'
import { rarity } from './rank-terms.ts'
import type { Tables } from './tables.ts'

/** Shares of n-grams and cosines below these come about by chance. */
const LEAST_SPELLED = 0.4
const LEAST_MEANT = 0.3

export type WordMatcher = {
  /** How much each word of the question counts: rare in the index, telling in the language. */
  weights: readonly number[]
  /** For each word of the question how alike (0..1) the given word is, in spelling or meaning; null: a stop word. */
  likeness(word: string): Float32Array | null
}

/** Compares words of passages with those of one question; make a new one for each question. */
export function createMatcher(tables: Tables, question: AnalysedQuestion): WordMatcher {
  const { words, terms, slots, stem } = tables
  const asked = question.terms.map(({ word, forms }) => ({
    forms: new Set(forms),
    grams: forms[0]!.length > 2 ? new Set(characterNGrams(forms[0]!, 3, 4)) : null,
    row: question.vector ? words.row(word) : -1,
  }))
  const weights = question.terms.map(({ forms, information }) => {
    const found = forms.reduce(
      (sum, form) => sum + (terms.postings[terms.ids.get(form) ?? -1]?.length ?? 0),
      0,
    )
    return information * rarity(slots, found)
  })
  const languages: Language[] = [...tables.languages]
  const known = new Map<string, Float32Array | null>()

  const compare = (word: string): Float32Array | null => {
    const forms = [...new Set(languages.flatMap((language) => termsOfWord(word, language, stem)))]
    if (forms.length === 0) return null
    const alike = new Float32Array(asked.length)
    const grams = forms[0]!.length > 2 ? characterNGrams(forms[0]!, 3, 4) : []
    const row = words.row(word)
    for (const [i, term] of asked.entries()) {
      if (forms.some((form) => term.forms.has(form))) {
        alike[i] = 1
        continue
      }
      const spelled = term.grams ? shareInCommon(term.grams, grams) : 0
      const meant = row < 0 || term.row < 0 ? 0 : similarityOfRows(words, term.row, row)
      alike[i] = Math.max(spelled >= LEAST_SPELLED ? spelled : 0, meant >= LEAST_MEANT ? meant : 0)
    }
    return alike
  }

  return {
    weights,
    likeness(word) {
      const before = known.get(word)
      if (before !== undefined) return before
      const alike = compare(word)
      known.set(word, alike)
      return alike
    },
  }
}

function shareInCommon(own: ReadonlySet<string>, other: readonly string[]): number {
  let common = 0
  for (const gram of other) if (own.has(gram)) common++
  return (2 * common) / (own.size + other.length)
}
