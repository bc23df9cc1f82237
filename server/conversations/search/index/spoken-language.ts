/** The languages with a stemmer, each with its most common words that few others share. */
const COMMON: Record<string, string> = {
  english: 'the and is of to with you your my what how can this that have not for are it when',
  german: 'und der die das ist nicht ich sie ein eine mit für auf wie kann mein meine wir auch es wann',
  french: 'le les des est une je vous ne pas pour dans avec sur que mon ma votre nous et comment',
  spanish: 'el los las una es que por para con mi su no cómo qué puedo está pero como gracias',
  italian: 'il lo gli una è che per con mio come posso non sono della questo grazie quando vostro',
  portuguese: 'os uma é que para com meu minha não você como posso está obrigado quando são',
  dutch: 'het een van ik niet mijn voor met hoe kan ik zijn dat jullie wat deze wanneer er',
  swedish: 'och jag det som är inte min för med hur kan ett på av när vi ni mitt',
  danish: 'og jeg det er ikke min til med hvordan kan et på af når vi mit jeres hvad',
  norwegian: 'og jeg det er ikke min til med hvordan kan et på av når vi mitt deres hva',
  finnish: 'ja on ei että miten voin minun mutta kun olen se mikä tämä ovat kuinka',
  hungarian: 'és az egy nem hogy van hogyan vagyok meg kell mi ez nekem mikor',
  romanian: 'și este nu pentru cu cum pot sunt mea meu care din la când sau',
  turkish: 've bir bu için ne nasıl değil benim var mı çok ile daha ama zaman',
}
const SCRIPTS: [RegExp, string][] = [
  [/\p{scx=Cyrillic}/u, 'russian'],
  [/\p{scx=Arabic}/u, 'arabic'],
  [/\p{scx=Armenian}/u, 'armenian'],
  [/\p{scx=Tamil}/u, 'tamil'],
]
/** The number of words at the start of a text that are examined for its language. */
export const WORDS_LOOKED_AT = 60

// Most words are ASCII, and this test is ten times faster.
const ASCII = /^[a-z0-9]+$/
const LATIN = /^[\p{scx=Latin}\p{M}\p{N}]+$/u
const LANGUAGES = Object.keys(COMMON)
const languagesOf: ReadonlyMap<string, string[]> = byWord()

function byWord(): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const [language, words] of Object.entries(COMMON)) {
    for (const word of words.split(' ')) found.set(word, [...(found.get(word) ?? []), language])
  }
  return found
}

/** Returns the languages whose stemmers can process a folded word, according to its script. */
export function languagesFor(word: string): string[] {
  if (ASCII.test(word) || LATIN.test(word)) return LANGUAGES
  return SCRIPTS.filter(([script]) => script.test(word)).map(([, language]) => language)
}

/** Returns the language of a text from its folded words; null when they do not reveal it. */
export function spokenLanguage(words: readonly string[]): string | null {
  const votes = new Map<string, number>()
  for (const word of words.slice(0, WORDS_LOOKED_AT)) {
    for (const language of languagesOf.get(word) ?? []) votes.set(language, (votes.get(language) ?? 0) + 1)
  }
  const [first, second] = [...votes].sort((a, b) => b[1] - a[1])
  return first && first[1] > (second?.[1] ?? 0) ? first[0] : null
}
