import type { TalkLanguage } from '../talk/talk-words.ts'

/** The ways to ask for a person in a language. Each pattern matches a word or phrase in lower-case text. */
export type Lexicon = {
  language: TalkLanguage
  /** Verbs for getting in touch, in the forms of a request. */
  talk: RegExp
  /** Verbs for wanting or needing something. */
  want: RegExp
  person: RegExp
  /** Nouns that mean a human being without further words, and never an account or a machine. */
  human: RegExp
  not: RegExp
  /** Matches a question about getting in touch. */
  about: RegExp
  /** Words that may accompany a bare "operator please". */
  bare: RegExp
  yes: RegExp
  /** True if a negation follows the word that it negates. */
  negatesLast: boolean
}

type Words = { [Name in Exclude<keyof Lexicon, 'negatesLast' | 'language'>]: string } & {
  language: TalkLanguage
}

/** Matches whole words in scripts with spaces between words, and any part of a text in the others. */
export function lexicon(words: Words, { hasSpaces = true, negatesLast = false } = {}): Lexicon {
  const edge = (list: string, flags = 'u'): RegExp =>
    new RegExp(hasSpaces ? `(?<![\\p{L}\\p{N}])(?:${list})(?![\\p{L}\\p{N}])` : `(?:${list})`, flags)
  return {
    language: words.language,
    talk: edge(words.talk),
    want: edge(words.want),
    person: edge(words.person),
    human: edge(words.human),
    not: edge(words.not),
    about: edge(words.about),
    bare: edge(words.bare, 'gu'),
    yes: edge(words.yes),
    negatesLast,
  }
}
