import { danishOrNorwegian } from './danish-or-norwegian.ts'
import { isRare, type Language, weighExpected } from './language.ts'
import { languagesOfStopWord } from './stop-words.ts'

/** Words that indicate the language of a short question. They also carry meaning, so they are not stop words. */
const TELLING: ReadonlyMap<string, Language> = new Map(
  Object.entries({
    de: 'kostet preis öffnungszeiten',
    en: 'much cost costs price',
    fr: 'coûte coûtent prix horaires',
    es: 'cuesta cuestan precio horario',
    it: 'costa costano prezzo orari',
    pt: 'custa custam preço horário',
    nl: 'kost prijs openingstijden',
    pl: 'kosztuje kosztują ile',
    sv: 'kostar pris öppettider',
    da: 'åbningstider',
    no: 'koster åpningstider',
    fi: 'maksaa paljonko hinta',
    cs: 'stojí',
    tr: 'fiyat ücreti',
  }).flatMap(([language, words]) => words.split(' ').map((word) => [word, language as Language])),
)

/**
 * Returns the language of a question about documents in `written`. If the words leave it open, this is the language
 * that knows most of them; `written` wins a tie, and is also the result when no word is known. Words for which `isSaid`
 * returns true are in the documents, and do not indicate another language.
 */
export function languageOfQuestion(
  words: readonly string[],
  written: Language,
  isSaid: (word: string) => boolean = () => false,
): Language {
  const { language } = weighExpected(words, new Set([written]), isSaid)
  if ((language === 'da' || language === 'no') && (written === 'da' || written === 'no'))
    return danishOrNorwegian(words, written)
  if (language !== 'other') return language
  const counts = new Map<Language, number>()
  const count = (one: Language): void => void counts.set(one, (counts.get(one) ?? 0) + 1)
  for (const word of words) {
    const languages = languagesOfStopWord.get(word) ?? []
    for (const one of languages) if (one === written || !(isRare(one) || isSaid(word))) count(one)
    const told = TELLING.get(word)
    if (told && (told === written || !isSaid(word))) count(told)
  }
  const most = Math.max(0, ...counts.values())
  if (most === 0 || counts.get(written) === most) return written
  return [...counts].find(([, found]) => found === most)![0]
}
