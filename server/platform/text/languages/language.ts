import { splitWords } from '../words/words.ts'
import { type Language, languagesOfStopWord } from './stem.ts'

export type { Language }

const WORDS_LOOKED_AT = 200

/** Letters that occur in no other of the languages, or in few of them. */
const LETTERS: [RegExp, readonly Language[]][] = [
  [/ß/, ['de']],
  [/ä/, ['de', 'sv', 'fi']],
  [/ö/, ['de', 'sv', 'fi', 'tr', 'hu']],
  [/ü/, ['de', 'tr', 'hu']],
  [/[őű]/, ['hu']],
  [/[ășț]/, ['ro']],
  [/ñ/, ['es']],
  [/[ãõ]/, ['pt']],
  [/ç/, ['fr', 'pt', 'tr']],
  [/ê/, ['fr', 'pt']],
  [/[èù]/, ['fr', 'it']],
  [/œ/, ['fr']],
  [/[łąęśżź]/, ['pl']],
  [/[řůě]/, ['cs']],
  [/[ğı]/, ['tr']],
  [/ş/, ['tr', 'ro']],
  [/[æø]/, ['da', 'no']],
  [/å/, ['sv', 'da', 'no']],
]
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII begins with them
const NOT_ASCII = /[^\x00-\x7f]/
const NOT_LATIN = /[^\p{scx=Latin}\p{N}\p{M}]/u
const SCRIPTS: [RegExp, Language | keyof typeof SHARED][] = [
  [/[\p{sc=Hiragana}\p{sc=Katakana}]/gu, 'ja'],
  [/\p{sc=Hangul}/gu, 'ko'],
  [/\p{sc=Han}/gu, 'zh'],
  [/\p{sc=Greek}/gu, 'el'],
  [/\p{sc=Hebrew}/gu, 'he'],
  [/\p{sc=Cyrillic}/gu, 'cyrillic'],
  [/\p{sc=Arabic}/gu, 'arabic'],
  [/\p{sc=Devanagari}/gu, 'devanagari'],
]

/**
 * For each script that several languages share, what tells them apart in a word. Letters of `other` belong to languages
 * that are not told apart from each other.
 */
const SHARED: Record<string, [RegExp, readonly Language[]][]> = {
  cyrillic: [
    [/[іїєґ]|(?:ти|тися)$/, ['uk']],
    [/[ыэё]|(?:ть|ться)$/, ['ru']],
    // In Russian, this letter only stands before a vowel with a glide. Bulgarian articles are endings.
    [/ъ(?![еёюя])|ията$|(?<!пл|тр|пал)ата$/, ['bg']],
    [/ь(?!о)/, ['ru', 'uk']],
    [/[ўјљњћђџѓќѕәғқңөұүһ]/, ['other']],
  ],
  arabic: [
    [/[پچژگکی]/, ['fa']],
    [/[ةكيىأإ]/, ['ar']],
    [/[ٹڈڑںےھہ]/, ['other']],
  ],
  devanagari: [
    [/\u093c/, ['hi']],
    [/ळ|^(?:आहे|आणि|आहेत|छ|छन्|हुन्छ)$/, ['other']],
  ],
}
/** A letter that the known languages do not have proves more than one that they have. */
const FOREIGN = 3
/** What it counts that a language is expected: as much as a letter or an ending in one word. */
const EXPECTED = 1
/** A Ukrainian text with this many letters has one of these. */
const UKRAINIAN = /[іїєґ]/
const ENOUGH = 12

/**
 * Languages whose short words are also those of others. They are only considered for texts with one of their letters, or
 * with two of the words that no other language has.
 */
const RARE: [Language, RegExp][] = [
  ['hu', /[őű]|(?:sz|gy|ny)[áéíóúöü]/],
  ['ro', /[ășț]/],
]
const OWN_WORDS = 2

/** Guesses the language of a text by its script and stop words. Returns `other` if there is too little evidence. */
export function guessLanguage(text: string): Language {
  return guessLanguageOfWords(splitWords(text.slice(0, WORDS_LOOKED_AT * 12)))
}

/**
 * Does the same for words that are already split and folded. If `among` is given, only these languages are
 * considered.
 */
export function guessLanguageOfWords(words: readonly string[], among?: ReadonlySet<Language>): Language {
  const looked = words.length > WORDS_LOOKED_AT ? words.slice(0, WORDS_LOOKED_AT) : words
  const script = scriptOf(looked)
  if (script !== null) return SHARED[script] ? languageIn(script, looked, among) : (script as Language)
  const unlikely = unlikelyIn(looked)
  const votes = new Map<Language, number>()
  const vote = (languages: readonly Language[], weight: number): void => {
    const possible = languages.filter((language) => !unlikely.has(language))
    const known = among ? possible.filter((language) => among.has(language)) : possible
    for (const language of known)
      votes.set(language, (votes.get(language) ?? 0) + weight / Math.sqrt(possible.length))
  }
  for (const word of looked) {
    const languages = languagesOfStopWord.get(word)
    if (languages) vote(languages, 1)
    else if (NOT_ASCII.test(word))
      for (const [letters, own] of LETTERS) if (letters.test(word)) vote(own, 0.5)
  }
  const [first, second] = [...votes].sort((a, b) => b[1] - a[1])
  if (!first) return 'other'
  const isTie = first[1] <= (second?.[1] ?? 0) * 1.02
  // Danish and Norwegian share most of their short words, and readers understand both.
  if (isTie && !(isScandinavian(first[0]) && second && isScandinavian(second[0]))) return 'other'
  // A long text with hardly any stop words of a language is in another language that shares some words.
  if (first[1] < 0.5 || first[1] / looked.length < 0.06) return 'other'
  const [best] = first
  return best === 'da' || best === 'no' ? danishOrNorwegian(looked, best) : best
}

const isScandinavian = (language: Language): boolean => language === 'da' || language === 'no'

/**
 * Tells the languages of a script apart by their letters, endings and stop words. Without any evidence, it is the one of
 * `among` that has this script, or none.
 */
function languageIn(script: string, words: readonly string[], among?: ReadonlySet<Language>): Language {
  const shared = SHARED[script]!
  const votes = new Map<Language, number>(shared.flatMap(([, languages]) => languages.map((one) => [one, 0])))
  const vote = (languages: readonly Language[], weight: number): void => {
    for (const one of languages) votes.set(one, (votes.get(one) ?? 0) + weight / languages.length)
  }
  for (const word of words) {
    for (const [letters, languages] of shared)
      if (letters.test(word)) vote(languages, languages[0] === 'other' ? FOREIGN : 1)
    const known = languagesOfStopWord.get(word)?.filter((language) => votes.has(language)) ?? []
    if (known.length === 1 || known.length < votes.size - 1) vote(known, 0.5)
  }
  for (const one of among ?? []) if (votes.has(one)) vote([one], EXPECTED)
  const letters = words.join('')
  if (script === 'cyrillic' && letters.length >= ENOUGH && !UKRAINIAN.test(letters)) vote(['uk'], -0.5)
  const [first, second] = [...votes].sort((a, b) => b[1] - a[1])
  if (!first || !second) return first?.[0] ?? 'other'
  if (first[1] > 0 && first[1] > second[1]) return first[0]
  const [expected, another] = [...votes].filter(
    ([language, weight]) => weight === first[1] && among?.has(language),
  )
  return expected && !another ? expected[0] : 'other'
}

/** Returns the languages of RARE that are not considered for these words. */
function unlikelyIn(words: readonly string[]): Set<Language> {
  const text = words.join(' ')
  return new Set(
    RARE.filter(
      ([language, letters]) =>
        !letters.test(text) &&
        words.filter((word) => {
          const known = languagesOfStopWord.get(word)
          return known?.length === 1 && known[0] === language
        }).length < OWN_WORDS,
    ).map(([language]) => language),
  )
}

/**
 * Returns the script that most letters belong to, as its language if it has only one; null for the Latin script, which
 * many languages share.
 */
function scriptOf(words: readonly string[]): string | null {
  if (!words.some((word) => NOT_LATIN.test(word))) return null
  const text = words.slice(0, WORDS_LOOKED_AT).join(' ').slice(0, 2_000)
  const counts = SCRIPTS.map(([script]) => text.match(script)?.length ?? 0)
  const all = text.match(/\p{L}/gu)?.length ?? 0
  const [kana = 0, , han = 0] = counts
  // Chinese characters also occur in Japanese texts. A word in another script has more letters for the same meaning.
  if ((kana + han) * 3 > all && kana * 20 > han) return 'ja'
  const best = Math.max(...counts)
  return best * 3 > all ? (SCRIPTS[counts.indexOf(best)]?.[1] ?? null) : null
}

// Matches scripts that are written without spaces (or, for Hangul, with particles attached). Their words are found as
// pairs of characters.
const DENSE =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+/gu
const ANY_DENSE = new RegExp(DENSE.source, 'u')

/** Returns whether a word contains characters of a script that does not separate words. */
export function isDense(word: string): boolean {
  return ANY_DENSE.test(word)
}

/** Splits a word into overlapping character pairs where its script is dense; other parts stay whole. */
export function densePairs(word: string): string[] {
  const pieces: string[] = []
  let end = 0
  for (const match of word.matchAll(DENSE)) {
    if (match.index > end) pieces.push(word.slice(end, match.index))
    end = match.index + match[0].length
    const characters = [...match[0]]
    if (characters.length === 1) pieces.push(match[0])
    for (let i = 0; i + 1 < characters.length; i++) pieces.push(characters.slice(i, i + 2).join(''))
  }
  if (end < word.length) pieces.push(word.slice(end))
  return pieces
}

/** Splits a word into runs of one kind of script, in order, with their positions. */
export function splitDense(word: string): { text: string; start: number; dense: boolean }[] {
  const stretches: { text: string; start: number; dense: boolean }[] = []
  let end = 0
  for (const { 0: text, index: start } of word.matchAll(DENSE)) {
    if (start > end) stretches.push({ text: word.slice(end, start), start: end, dense: false })
    stretches.push({ text, start, dense: true })
    end = start + text.length
  }
  if (end < word.length) stretches.push({ text: word.slice(end), start: end, dense: false })
  return stretches
}

/** Common words that one of the two languages spells in its own way. The languages share most of the others. */
const NORWEGIAN = new Set(
  `av bare bli blir bruker bytte deg ditt endre etter fikk gi gjør gjøre ha hva kjøpe lage meg mer mitt mye noe noen nå
  opp passord penger refusjon seg sette si språk tilbake trenger ut uten være å åpningstider`.split(/\s+/),
)
const DANISH = new Set(
  `adgangskode af behøver blive bliver dig dit efter fik gør gøre have hvad kun købe lave meget mere mig mit nogen noget
  nu op penge sig sige sprog sætte tilbage ud uden ændre åbningstider`.split(/\s+/),
)
const NORWEGIAN_SPELLING = /^s?kj|sjon(?:en|er|ene)?$|øy|ei[dlnrst]/u
const DANISH_SPELLING = /tion(?:en|er|erne)?$|øj|æng|ægt/u

/**
 * Distinguishes the two languages by the spelling of folded words. Returns `otherwise` if the spelling does not
 * decide.
 */
function danishOrNorwegian(words: readonly string[], otherwise: 'da' | 'no'): 'da' | 'no' {
  let norwegian = 0
  for (const word of words) {
    if (NORWEGIAN.has(word) || NORWEGIAN_SPELLING.test(word)) norwegian++
    if (DANISH.has(word) || DANISH_SPELLING.test(word)) norwegian--
  }
  if (norwegian === 0) return otherwise
  return norwegian > 0 ? 'no' : 'da'
}

/** The number of characters per token of other text. */
const CHARACTERS_PER_TOKEN = 3.5

/**
 * Returns about how many tokens a model needs for a text, which is enough to stay inside a context window. It reads
 * scripts without spaces nearly one character at a time.
 */
export function estimateTokens(text: string): number {
  const dense = (text.match(DENSE) ?? []).reduce((sum, run) => sum + run.length, 0)
  return tokensOfCharacters(text.length - dense, dense)
}

/** Does the same for texts that are counted elsewhere. */
export const tokensOfCharacters = (characters: number, dense = 0): number =>
  Math.ceil(dense + characters / CHARACTERS_PER_TOKEN)
