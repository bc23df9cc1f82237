const PLAIN = /^[\x20-\x7f]*$/
const FOLDED = /[\p{sc=Latin}\p{sc=Greek}]\p{Mn}+/gu
const LETTERS: Record<string, string> = { ø: 'o', æ: 'ae', œ: 'oe', ł: 'l', ı: 'i', ß: 'ss', đ: 'd' }

/** Removes the accents of Latin and Greek letters from a word, because people omit them when they type. */
export function foldAccents(word: string): string {
  if (PLAIN.test(word)) return word
  return word
    .normalize('NFD')
    .replace(FOLDED, (letter) => letter.charAt(0))
    .replace(/[øæœłıßđ]/g, (letter) => LETTERS[letter] ?? letter)
    .normalize('NFC')
}
