import { foldAccents } from '../words/fold-accents.ts'
import { foldText } from '../words/words.ts'
import { TALK_WORDS } from './talk-table.ts'
import { EVERYWHERE, type TalkLanguage, type TalkWords } from './talk-words.ts'

/** What a phrase of small talk is. `beside` is none by itself. */
export type TalkKind = Exclude<keyof TalkWords, 'beside' | 'thanksFor' | 'contact'>
type PhraseKind = TalkKind | 'beside' | 'thanksFor'

const KINDS: readonly PhraseKind[] = [
  'greeting',
  'thanks',
  'goodbye',
  'yes',
  'acknowledgement',
  'refusal',
  'help',
  'identity',
  'complaint',
  'beside',
  'thanksFor',
]

/** A part of a phrase: letters, or the alternatives within braces. */
type Part = string | readonly (readonly Part[])[]
type Phrase = { kind: PhraseKind; parts: readonly Part[] }

/** The phrases of a language by the first letter. */
type Phrases = ReadonlyMap<string, readonly Phrase[]>

const known = new Map<TalkLanguage, Phrases>()

/**
 * Calls `visit` with the kind and the end of each phrase of a language that begins at a position of a text, which was
 * folded, with single spaces between words. The phrases of a language are compiled at the first call.
 */
export function visitPhrases(
  language: TalkLanguage,
  text: string,
  start: number,
  visit: (kind: PhraseKind, end: number) => void,
): void {
  const phrases = known.get(language) ?? compile(language)
  for (const { kind, parts } of phrases.get(text[start]!) ?? [])
    visitEnds(parts, 0, text, start, (end) => visit(kind, end))
}

function visitEnds(
  parts: readonly Part[],
  at: number,
  text: string,
  start: number,
  visit: (end: number) => void,
): void {
  const part = parts[at]
  if (part === undefined) visit(start)
  else if (typeof part === 'string') {
    const end = endOf(part, text, start)
    if (end >= 0) visitEnds(parts, at + 1, text, end, visit)
  } else
    for (const alternative of part)
      visitEnds(alternative, 0, text, start, (end) => visitEnds(parts, at + 1, text, end, visit))
}

/** Returns where letters end in a text; -1 if they are not there. A space among the letters may be missing in the text. */
function endOf(letters: string, text: string, start: number): number {
  let at = start
  for (const letter of letters) {
    if (text.startsWith(letter, at)) at += letter.length
    else if (letter !== ' ') return -1
  }
  return at
}

function compile(language: TalkLanguage): Phrases {
  const phrases = new Map<string, Phrase[]>()
  for (const kind of KINDS) {
    const shared = (EVERYWHERE as Partial<Record<PhraseKind, string>>)[kind]
    for (const text of [TALK_WORDS[language][kind], shared ?? ''])
      for (const parts of parse(foldTalk(text).replaceAll(/\s+/g, ' ')))
        for (const letter of firstLetters(parts))
          phrases.set(letter, [...(phrases.get(letter) ?? []), { kind, parts }])
  }
  known.set(language, phrases)
  return phrases
}

/** Parses alternatives, which `|` separates outside of braces. */
function parse(text: string): Part[][] {
  let at = 0
  const alternatives = (): Part[][] => {
    const found: Part[][] = [[]]
    for (; at < text.length && text[at] !== '}'; at++) {
      if (text[at] === '|') found.push([])
      else if (text[at] === '{') {
        at++
        found.at(-1)!.push(alternatives())
      } else {
        const [letters] = /^[^{|}]+/.exec(text.slice(at))!
        found.at(-1)!.push(letters)
        at += letters.length - 1
      }
    }
    return found
  }
  return alternatives()
}

/** Returns the letters that a phrase can begin with. */
function firstLetters(parts: readonly Part[]): Set<string> {
  const letters = new Set<string>()
  const [first, ...rest] = parts
  if (typeof first === 'string') {
    const [letter] = first.trimStart()
    return letter === undefined ? firstLetters(rest) : new Set([letter])
  }
  for (const alternative of first ?? [])
    for (const letter of firstLetters([...alternative, ...rest])) letters.add(letter)
  return letters
}

const ARABIC_MARKS = /[\u064b-\u0652\u0640]/g
const LETTERS: Record<string, string> = { أ: 'ا', إ: 'ا', آ: 'ا', ى: 'ي', ة: 'ه', ё: 'е' }

/** Folds a text as it is compared with phrases: in lower case, without accents and repeated letters. */
export function foldTalk(text: string): string {
  return foldAccents(foldText(text))
    .replace(ARABIC_MARKS, '')
    .replace(/[أإآىةё]/g, (letter) => LETTERS[letter]!)
    .replace(/(\p{sc=Latin})\1{2,}/gu, '$1')
}
