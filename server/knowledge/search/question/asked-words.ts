import { addPlace, createSievedPlaces, type SievedPlaces } from '../tables/sieved-places.ts'
import type { Tables } from '../tables/tables.ts'
import type { WordTable } from '../tables/word-table.ts'
import type { AnalysedQuestion } from './analyse-question.ts'
import { gramsOf } from './word-forms.ts'

/** The words of a question by their positions, prepared for comparison with the words of passages. */
export type AskedWords = {
  count: number
  /** The row of each word in the word vectors (-1 for none), and the length of its vector. */
  rows: readonly number[]
  lengths: readonly number[]
  /** The number of n-grams of each word; the spelling is not compared if it is 0. */
  gramCounts: readonly number[]
  /** Maps the hash of an n-gram to the words that contain it. */
  byGram: SievedPlaces
  forms: readonly (readonly string[])[]
  /** The forms of the words that documents use for the subject of each word. */
  kin: readonly (readonly string[])[]
  hasKin: boolean
}

export function askedWords({ words }: Tables, { terms, vector }: AnalysedQuestion): AskedWords {
  const byGram = createSievedPlaces()
  const gramCounts = terms.map(({ forms }, place) => {
    const grams = gramsOf(forms[0] ?? '')
    for (const gram of grams) addPlace(byGram, gram, place)
    return grams.length
  })
  const rows = terms.map(({ word, isName }) => (vector && !isName ? words.row(word) : -1))
  const lengths = rows.map((row) => words.lengths[row] ?? 0)
  return {
    count: terms.length,
    rows,
    lengths,
    gramCounts,
    byGram,
    forms: terms.map(({ forms }) => forms),
    kin: terms.map(({ kin }) => kin.flatMap(({ forms }) => forms)),
    hasKin: terms.some(({ kin }) => kin.length > 0),
  }
}

/**
 * Maps the numbers of word forms to the words. A form without a number belongs to no known word; a question adds
 * none.
 */
export function placesOfForms(formsOfWords: AskedWords['forms'], { formNumbers }: WordTable): SievedPlaces {
  const byForm = createSievedPlaces()
  for (const [place, own] of formsOfWords.entries()) {
    for (const form of own) {
      const number = formNumbers.get(form)
      if (number !== undefined) addPlace(byForm, number, place)
    }
  }
  return byForm
}
