/** Characters of scripts without spaces between words, with their punctuation, such as the long vowel of katakana. */
const DENSE = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}，！？：；（）～％]/u
/** Marks that Chinese shares with scripts that have spaces. */
const SHARED = /[“”‘’…—]/u

/** Begins an item of a list in Chinese or Japanese, where no space follows the mark or the number. */
export const DENSE_ITEM =
  /^\s*(?:[・‧●○■□◆◇※★☆①-⑳]|\d{1,3}[、．）]|[一二三四五六七八九十]{1,3}、|[（(][一二三四五六七八九十\d]{1,3}[）)])/

/** Returns whether a text begins, or ends, with a character of a script without spaces. */
export const startsDense = (text: string): boolean => DENSE.test(firstOf(text))
export const endsDense = (text: string): boolean => DENSE.test(lastOf(text))

/** Returns whether a line break between two texts stands for nothing, as in Chinese and Japanese, and not for a space. */
export function isBreakEmpty(left: string, right: string): boolean {
  const [end, start] = [lastOf(left), firstOf(right)]
  if (DENSE.test(end)) return DENSE.test(start) || SHARED.test(start)
  return SHARED.test(end) && DENSE.test(start)
}

const firstOf = (text: string): string => String.fromCodePoint(text.codePointAt(0) ?? SPACE)
const lastOf = (text: string): string => /[\s\S]$/u.exec(text.slice(-2))?.[0] ?? ''
const SPACE = 32

/** Matches the beginning of a list item in any script with a marker or number before a space. */
export const LIST_ITEM = /^\s*(?:[-*+•‣▪—–・]|\(?\d{1,3}[.)]|[a-z]\))\s/
