/** Common names of arrays in code that do not occur in prose. */
const LISTS = /^(?:arg[csv]?|arr|buf|cols|idx|kwargs|params|ptr|str|tmp|vec|[b-hj-zB-HJ-Z])$/i
/** A dot within a word indicates code, except in file names and host names. */
const DOTTED =
  /[a-zA-Z_$][\w$]*\.(?!(?:com|org|net|io|de|eu|fr|uk|js|ts|py|md|html?|pdf|txt|json|csv|docx?)$)[a-zA-Z_$][\w$]*$/i
const WORD = /[a-zA-Z_$][\w$.]{0,78}$/
const CODE = /```[\s\S]*?```|`[^`\n]{1,300}`/g
const INDEXED = /[a-zA-Z_$][\w$]{0,78}(?=\[)/g

/** Returns the names that are indexed in the code of Markdown texts, such as `colors` in `colors[i]`. */
export const namesIndexedIn = (texts: readonly string[]): ReadonlySet<string> =>
  new Set(texts.flatMap((text) => text.match(CODE) ?? []).flatMap((code) => code.match(INDEXED) ?? []))

/**
 * Returns whether the bracketed number directly after `before` is an array index, as in `process.argv[2]`, rather
 * than a citation marker, which often follows a word directly, too. `known` are names of arrays that could also be
 * words of prose.
 */
export function isArrayIndex(before: string, numbers: string, known?: ReadonlySet<string>): boolean {
  // Remove further indexes, as in matrix[1][2].
  const name = before.slice(-80).replace(/(?:\[\w{1,20}\]){1,4}$/, '')
  if (/[\w$]\(\)$/.test(name)) return true
  const word = WORD.exec(name)?.[0]
  if (word === undefined) return false
  const last = word.split('.').at(-1) ?? ''
  return (
    numbers === '0' ||
    (known?.has(last) ?? false) ||
    LISTS.test(last) ||
    DOTTED.test(word) ||
    /[a-zA-Z\d]_[a-zA-Z\d]|\$|[a-z][A-Z]/.test(last)
  )
}
