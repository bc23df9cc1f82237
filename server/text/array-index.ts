/** Common names of arrays in code that do not occur in prose. */
const LISTS = /^(?:arg[csv]?|arr|buf|cols|idx|kwargs|params|ptr|str|tmp|vec|[b-hj-zB-HJ-Z])$/i
/** A dot within a word indicates code, except in file names and host names. */
const DOTTED =
  /[a-zA-Z_$][\w$]*\.(?!(?:com|org|net|io|de|eu|fr|uk|js|ts|py|md|html?|pdf|txt|json|csv|docx?)$)[a-zA-Z_$][\w$]*$/i
const WORD = /[a-zA-Z_$][\w$.]{0,78}$/

/**
 * Whether the bracketed number directly after `before` is an array index, as in `process.argv[2]`, and not a citation
 * marker, which often follows a word directly, too.
 */
export function isArrayIndex(before: string, numbers: string): boolean {
  // As in matrix[1][2].
  const name = before.slice(-80).replace(/(?:\[\w{1,20}\]){1,4}$/, '')
  if (/[\w$]\(\)$/.test(name)) return true
  const word = WORD.exec(name)?.[0]
  if (word === undefined) return false
  const last = word.split('.').at(-1) ?? ''
  return (
    numbers === '0' ||
    LISTS.test(last) ||
    DOTTED.test(word) ||
    /[a-zA-Z\d]_[a-zA-Z\d]|\$|[a-z][A-Z]/.test(last)
  )
}
