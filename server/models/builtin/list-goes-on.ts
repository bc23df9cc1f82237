import type { Language } from '../../text/languages/language.ts'

/** Follows the beginning of a list that is too long to be quoted. */
const SENTENCES: Partial<Record<Language, string>> = {
  en: 'The list goes on in the source.',
  de: 'Die Liste geht in der Quelle weiter.',
  fr: 'La liste continue dans la source.',
  es: 'La lista continúa en la fuente.',
  it: 'L’elenco continua nella fonte.',
  pt: 'A lista continua na fonte.',
  nl: 'De lijst gaat verder in de bron.',
  pl: 'Dalszy ciąg listy znajduje się w źródle.',
  sv: 'Listan fortsätter i källan.',
  da: 'Listen fortsætter i kilden.',
  no: 'Listen fortsetter i kilden.',
  fi: 'Luettelo jatkuu lähteessä.',
  cs: 'Seznam pokračuje ve zdroji.',
  ru: 'Список продолжается в источнике.',
  tr: 'Liste kaynakta devam ediyor.',
  ar: 'تتمة القائمة في المصدر.',
  ja: '続きは出典をご覧ください。',
  zh: '列表的其余部分请见来源。',
  uk: 'Список продовжується в джерелі.',
  hi: 'सूची स्रोत में आगे जारी है।',
  ko: '목록의 나머지는 출처에 있습니다.',
}

/** Returns the sentence in a language; the English one for a language without its own. */
export const listGoesOn = (language: Language): string => SENTENCES[language] ?? SENTENCES.en!
