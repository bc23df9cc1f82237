import { existsSync, readFileSync } from 'node:fs'
import { isDense } from '../languages/dense-script.ts'
import type { Language } from '../languages/language.ts'
import type { Stemmer } from '../languages/stem.ts'
import { splitWords } from '../words/words.ts'

/** A subject that customers often ask about, found in a question. */
type EverydaySubject = {
  name: string
  /** The words of the question that mean it, without duplicates. */
  asked: readonly string[]
  /** The words that documents use for it. */
  said: readonly string[]
}

/** An entry of a list: the stems of a word or phrase in their order, or a run of letters in a script without spaces. */
type Entry = { stems: readonly string[]; subject: string }
type Vocabulary = {
  said: ReadonlyMap<string, readonly string[]>
  /** The entries by their first stem. */
  byStem: ReadonlyMap<string, readonly Entry[]>
  /** The entries in a script without spaces. */
  runs: readonly { letters: string; subject: string }[]
}

/** The number of subjects that one question can have; a long message touches many. */
const MOST_SUBJECTS = 8

/** In this language only phrases name a subject, because its word vectors already connect single words. */
const WITH_VECTORS: Language = 'en'

const vocabularies = new Map<Language, Vocabulary | null>()

/**
 * Finds the subjects that a question names in everyday words, such as opening hours in "When do you close?", because
 * documents name them with other words. The lists stand in this folder, one file per language; a language without a
 * file has none.
 */
export function everydaySubjects(
  words: readonly string[],
  language: Language,
  stem: Stemmer,
): EverydaySubject[] {
  const vocabulary = vocabularyOf(language, stem)
  if (!vocabulary) return []
  const asked = new Map<string, { own: Set<string>; longest: number }>()
  const add = (subject: string, own: readonly string[], length: number): void => {
    const before = asked.get(subject) ?? { own: new Set(), longest: 0 }
    for (const word of own) before.own.add(word)
    asked.set(subject, { own: before.own, longest: Math.max(before.longest, length) })
  }
  const stems = words.map((word) => (isDense(word) ? word : stem(word, language)))
  for (const [place, first] of stems.entries()) {
    for (const entry of vocabulary.byStem.get(first) ?? []) {
      const isHere = entry.stems.every((one, i) => one === stems[place + i])
      const { length } = entry.stems
      if (isHere) add(entry.subject, words.slice(place, place + length), length)
    }
  }
  if (vocabulary.runs.length > 0) {
    const letters = words.filter(isDense).join('')
    for (const { letters: run, subject } of vocabulary.runs)
      if (letters.includes(run)) add(subject, [run], run.length)
  }
  // A long phrase is less ambiguous than a word.
  return [...asked]
    .sort(([, a], [, b]) => b.longest - a.longest)
    .slice(0, MOST_SUBJECTS)
    .map(([name, { own }]) => ({ name, asked: [...own], said: vocabulary.said.get(name)! }))
}

function vocabularyOf(language: Language, stem: Stemmer): Vocabulary | null {
  const before = vocabularies.get(language)
  if (before !== undefined) return before
  const file = new URL(`./${language}.txt`, import.meta.url)
  const vocabulary = existsSync(file) ? readVocabulary(readFileSync(file, 'utf8'), language, stem) : null
  vocabularies.set(language, vocabulary)
  return vocabulary
}

/** Reads lines such as `hours: opening, hours < are you open, when do you close`. */
function readVocabulary(text: string, language: Language, stem: Stemmer): Vocabulary {
  const said = new Map<string, readonly string[]>()
  const byStem = new Map<string, Entry[]>()
  const runs: { letters: string; subject: string }[] = []
  for (const line of text.split('\n')) {
    const [, subject, left = '', right = ''] = /^([\w-]+):([^<]*)<?(.*)$/.exec(line) ?? []
    if (subject === undefined) continue
    const ofDocuments = entriesOf(left)
    said.set(subject, ofDocuments.flat())
    const asked =
      language === WITH_VECTORS
        ? entriesOf(right).filter(({ length }) => length > 1)
        : [...ofDocuments, ...entriesOf(right)]
    for (const entry of asked) {
      if (entry.some(isDense)) runs.push({ letters: entry.join(''), subject })
      else {
        const stems = entry.map((word) => stem(word, language))
        byStem.set(stems[0]!, [...(byStem.get(stems[0]!) ?? []), { stems, subject }])
      }
    }
  }
  return { said, byStem, runs }
}

const entriesOf = (list: string): string[][] =>
  list
    .split(',')
    .map(splitWords)
    .filter((words) => words.length > 0)
