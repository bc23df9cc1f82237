import { endsDense, isBreakEmpty, startsDense } from '../text/dense-lines.ts'

const HANGUL_END = /\p{Script=Hangul}+$/u
const HANGUL_START = /^\p{Script=Hangul}+/u
/** Syllables with which a Korean word usually ends: particles and endings. */
const LAST = /[은는을를에의로와과도만며고면다요서한할된될인게지여이가야]$/
const HYPHENATED = /[\p{L}\p{M}]+-[\p{L}\p{M}]+/gu
/** As in "on- and offline", where the hyphen stands for an omitted part of the word. */
const OMITS = /^(?:and|or|und|oder|bzw|bis|y|o|et|ou)$/
/** The number of characters at the end of a line among which a divided word is looked for. */
const MAX_WORD_LENGTH = 100

/** Joins two lines of a text, and the word that the line break divides. */
export type JoinLines = (left: string, right: string) => string

/**
 * Returns a function that joins the lines of a document by the words that are whole elsewhere in it. Programs may break
 * Korean text after any syllable, and nothing in the file tells whether there was a space; where lines end only between
 * words (`keepsWords`), there was one.
 */
export function lineJoiner(lines: readonly string[], keepsWords: boolean): JoinLines {
  const hyphenated = new Set(lines.flatMap((line) => line.toLowerCase().match(HYPHENATED) ?? []))
  const words = new Set(lines.flatMap((line) => line.split(/[^\p{Script=Hangul}]+/u).slice(1, -1)))
  const dividesHangul = (left: string, right: string): boolean => {
    const [before, after] = [HANGUL_END.exec(left)?.[0], HANGUL_START.exec(right)?.[0]]
    // What counts usually follows its number without a space.
    if (!keepsWords && /\d$/.test(left) && after !== undefined) return true
    if (keepsWords || before === undefined || after === undefined) return false
    return words.has(before + after) || !(words.has(before) || LAST.test(before))
  }
  return (left, right) => {
    const last = left.slice(-MAX_WORD_LENGTH)
    if (left.endsWith('\u00ad')) return left.slice(0, -1) + right
    if (hasNoSpace(last, right) || dividesHangul(last, right)) return left + right
    const start = /[\p{L}\p{M}]+-$/u.exec(last)?.[0]
    const end = /^\p{Ll}[\p{L}\p{M}]*/u.exec(right)?.[0]
    if (start === undefined || (end !== undefined && OMITS.test(end))) return `${left} ${right}`
    return end === undefined || hyphenated.has((start + end).toLowerCase())
      ? left + right
      : left.slice(0, -1) + right
  }
}

/** Chinese and Japanese have no space between a number and its unit either, and a number is broken after a hyphen. */
const hasNoSpace = (left: string, right: string): boolean =>
  isBreakEmpty(left, right) ||
  (endsDense(left) && /^\d/.test(right)) ||
  (/\d$/.test(left) && startsDense(right)) ||
  (/\d[-–]$/.test(left) && /^\d/.test(right))
