import { compactVector } from '../../../models/static/compact-vector.ts'
import { informationOf, meanVector, unitLength } from '../../../models/static/mean-vector.ts'
import { everydaySubjects } from '../../../text/everyday/everyday-words.ts'
import { contentOfDense, densePairs, isDense } from '../../../text/languages/dense-script.ts'
import { type Language, weighExpected, weighLanguage } from '../../../text/languages/language.ts'
import { isStopWord } from '../../../text/languages/stop-words.ts'
import { termsOfWord } from '../../../text/words/terms.ts'
import { splitWords } from '../../../text/words/words.ts'
import { languagesInOrder, mostChunks, type Tables } from '../tables/tables.ts'
import { wholeVerbs } from './separable-verbs.ts'

/**
 * The limits for a long message: it is searched for by its first words, of which the most significant ones are used.
 */
const MOST_WORDS = 400
const MOST_TERMS = 32
const MOST_CHARACTERS = 4_000

/**
 * The language is certain if at least this share of the words, and at least this many words, indicate it. A script
 * alone is enough.
 */
const SURE_SHARE = 0.25
const SURE_WORDS = 3
/** The question consists of keywords without a word that indicates their language. */
const TYPED_WORDS = 8

/** The shortest name; shorter words are mostly abbreviations of common words. */
const SHORTEST_NAME = 3
const NO_KIN: readonly Kin[] = []
const INSIDE_A_SENTENCE = /(?<=[\p{L}\p{N},;"“(]\s+["“(]?)[\p{L}\p{N}]+/gu
const NO_NAMES: ReadonlySet<string> = new Set()

export type QuestionTerm = {
  word: string
  /** The forms under which the word may be indexed, stemmed in each language of the index. */
  forms: string[]
  /** How significant the word is, from 0 to 1 (3 for a code), independently of this index. */
  information: number
  /** Whether the word is a name of a person, place or product by its capital letter; only determined in English. */
  isName: boolean
  /** Words that documents use for the subject that the word names in everyday language, with their forms. */
  kin: readonly Kin[]
  /** Whether the term stands for a subject that is named by stop words alone. */
  isAdded: boolean
}

/** Codes such as F22 and LV900 outweigh other words. Quantities such as 10kg begin with a digit and are no codes. */
const CODE = 3
const isCode = (word: string): boolean => /^\p{L}{1,4}\d/u.test(word) && !isDense(word)

type Kin = { word: string; forms: readonly string[] }

export type AnalysedQuestion = {
  language: Language
  /** Whether the words leave no doubt about the language. */
  isSure: boolean
  terms: QuestionTerm[]
  /**
   * The question's stop words. Where many passages have its other words, words such as "only", "every" and "without"
   * tell these passages apart.
   */
  common: string[]
  /** The pairs of characters that are not among the terms, in a script without spaces. They mostly contain a particle. */
  otherPairs: string[]
  /** Indexes in `terms` of words that follow each other, such as "hydrogen tank". */
  pairs: [number, number][]
  vector: Int8Array | null
  provided: Int8Array | null
}

/** Analyses a question for the rankers. `queryVector` is from the embedding provider of the chunks. */
export function analyseQuestion(
  question: string,
  tables: Tables,
  queryVector: Float32Array | null | undefined,
): AnalysedQuestion {
  const asked = question.slice(0, MOST_CHARACTERS)
  const words = splitWords(asked).slice(0, MOST_WORDS)
  const languages: Language[] = [...new Set<Language>([...languagesInOrder(tables), 'other'])]
  const isSaid = (word: string): boolean =>
    languages.some((one) =>
      termsOfWord(word, one, tables.lexicon.stem).some((form) => tables.terms.ids.has(form)),
    )
  const { language: told, share } = weighExpected(words, new Set(tables.languages), isSaid)
  // A question of a few words is in the language of the documents unless the words indicate another one.
  const language = told === 'other' ? (weighLanguage(words, tables.languages).language ?? 'other') : told
  const usual = language === 'other' ? (mostChunks(tables.chunksOf) ?? 'en') : language
  const names = language === 'en' ? namesIn(asked) : NO_NAMES
  const all = [...new Set(words)]
  const content = all.filter((word) => !isStopWord(word, usual))
  const verbs = wholeVerbs(asked, usual)
  const terms = content
    .flatMap((word) => questionTerms(word, languages, tables))
    .map((term) => withWholeVerbs(term, verbs.get(term.word) ?? [], usual, tables))
    .map((term) => ({ ...term, isName: names.has(term.word), kin: NO_KIN, isAdded: false }))
    .sort((a, b) => b.information - a.information)
    .slice(0, MOST_TERMS)

  // A few words without a stop word may be English; a sentence without one is not.
  const speaksVectors =
    language === 'en' ||
    (language === 'other' && usual === 'en' && words.length <= TYPED_WORDS) ||
    (language === 'other' && words.length <= 3)
  const known = speaksVectors ? content.filter((word) => tables.words.row(word) >= 0) : []
  const mean = meanVector(tables.words, known)
  const fits = queryVector && tables.provided?.dimensions === queryVector.length
  const provided = fits ? unitLength(queryVector) : null
  return {
    language,
    isSure: told !== 'other' && share >= SURE_SHARE && words.length >= SURE_WORDS,
    terms: withKin(terms, words, usual, tables),
    common: all.filter((word) => isStopWord(word, usual)),
    otherPairs: [...new Set(content.flatMap(pairsBesideContent))].slice(0, MOST_TERMS),
    pairs: pairsOf(words, terms),
    vector: mean && compactVector(mean),
    provided: provided && compactVector(provided),
  }
}

type PlainTerm = Omit<QuestionTerm, 'isName' | 'kin' | 'isAdded'>

function questionTerms(word: string, languages: readonly Language[], tables: Tables): PlainTerm[] {
  const information = informationOf(tables.words, tables.words.row(word)) * (isCode(word) ? CODE : 1)
  const byLanguage = languages.map((language) => termsOfWord(word, language, tables.lexicon.stem))
  if (isDense(word))
    return contentOfDense(word)
      .filter(({ pair, crosses }) => !crosses || tables.terms.ids.has(pair))
      .map(({ pair }) => ({ word: pair, forms: [pair], information: 1 }))
  const forms = [...new Set(byLanguage.flat())]
  return forms.length === 0 ? [] : [{ word, forms, information }]
}

function pairsBesideContent(word: string): string[] {
  if (!isDense(word)) return []
  const kept = contentOfDense(word).map(({ pair }) => pair)
  return densePairs(word).filter((pair) => !kept.includes(pair))
}

/** Adds the whole verbs that occur in the documents, under which they are indexed. */
function withWholeVerbs(
  term: PlainTerm,
  verbs: readonly string[],
  language: Language,
  { lexicon, terms }: Tables,
): PlainTerm {
  const known = verbs
    .flatMap((verb) => termsOfWord(verb, language, lexicon.stem))
    .filter((form) => terms.ids.has(form) && !term.forms.includes(form))
  return known.length > 0 ? { ...term, forms: [...term.forms, ...known] } : term
}

/**
 * Adds to the terms the words that documents use for the subjects of the question. A subject that is named by stop
 * words alone, as in "When are you open?", becomes a term of its own. In a question without any other term, its words
 * count like words of the question.
 */
function withKin(
  terms: readonly QuestionTerm[],
  words: readonly string[],
  language: Language,
  { lexicon, terms: index }: Tables,
): QuestionTerm[] {
  let found = [...terms]
  for (const { asked, said } of everydaySubjects(words, language, lexicon.stem)) {
    const own = new Set(found.flatMap(({ word, forms }) => (asked.includes(word) ? forms : [])))
    const kin = said.flatMap((word) => {
      const forms = termsOfWord(word, language, lexicon.stem).filter((form) => !own.has(form))
      return forms.some((form) => index.ids.has(form)) ? [{ word, forms }] : []
    })
    const [first] = kin
    if (!first) continue
    if (own.size > 0) {
      found = found.map((term) =>
        asked.includes(term.word) ? { ...term, kin: [...term.kin, ...kin] } : term,
      )
    } else if (terms.length === 0) {
      const forms = [...new Set(kin.flatMap((one) => one.forms))]
      found.push({ word: first.word, forms, information: 1, isName: false, kin: NO_KIN, isAdded: false })
    } else {
      found.push({ word: '', forms: [], information: 1, isName: false, kin, isAdded: true })
    }
  }
  return found
}

function pairsOf(words: readonly string[], terms: readonly QuestionTerm[]): [number, number][] {
  const placeOf = (word: string | undefined): number => terms.findIndex((term) => term.word === word)
  return words.flatMap((word, i) => {
    const [first, second] = [placeOf(word), placeOf(words[i + 1])]
    return first >= 0 && second >= 0 && first !== second ? [[first, second]] : []
  })
}

/** Returns the folded words with a capital letter that do not begin a sentence; none if most words have one. */
function namesIn(text: string): ReadonlySet<string> {
  const inside = [...text.matchAll(INSIDE_A_SENTENCE)].map(([word]) => word)
  const capital = inside.filter((word) => /\p{Lu}/u.test(word))
  if (capital.length * 2 > inside.length) return NO_NAMES
  return new Set(capital.filter((word) => word.length >= SHORTEST_NAME).flatMap(splitWords))
}
