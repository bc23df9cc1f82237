import type { Language } from '../../text/languages/language.ts'
import { wordsOnly } from '../../text/words/words.ts'

type SmallTalk = { kind: 'hello' | 'thanks' | 'goodbye'; language: Language }

const GERMAN_HELLO =
  /^(hallo|guten (tag|morgen|abend)|moin|servus|grüß (gott|dich)|grüezi)( zusammen| ihr| du)?$/
const ENGLISH_HELLO =
  /^(hi|hello|hey|hiya|greetings|good (morning|afternoon|evening|day))( there| everyone| all| team)?$/
const GERMAN_THANKS =
  /^(ok |okay |super |alles klar )?(danke|vielen dank|dankeschön|besten dank|danke (schön|sehr|dir|ihnen))$/
const ENGLISH_THANKS =
  /^(ok |okay |great |perfect |cool )?(thanks|thx|ty|cheers|thank you|many thanks)( so much| very much| a lot| for (the|your) help)?$/
const GERMAN_GOODBYE = /^(tschüss|tschüß|auf wiedersehen|bis bald|ciao)$/
const ENGLISH_GOODBYE = /^(bye|goodbye|bye bye|see you|good night)$/

const KINDS: [RegExp, SmallTalk][] = [
  [ENGLISH_HELLO, { kind: 'hello', language: 'en' }],
  [GERMAN_HELLO, { kind: 'hello', language: 'de' }],
  [ENGLISH_THANKS, { kind: 'thanks', language: 'en' }],
  [GERMAN_THANKS, { kind: 'thanks', language: 'de' }],
  [ENGLISH_GOODBYE, { kind: 'goodbye', language: 'en' }],
  [GERMAN_GOODBYE, { kind: 'goodbye', language: 'de' }],
]

/** The most common phrases in the other languages, normalized by `wordsOnly`. */
const COMMON: Partial<Record<Language, Record<SmallTalk['kind'], string>>> = {
  fr: {
    hello: 'bonjour|bonsoir|salut|coucou',
    thanks: 'merci|merci beaucoup|merci bien',
    goodbye: 'au revoir|à bientôt',
  },
  es: {
    hello: 'hola|buenos días|buenas tardes|buenas',
    thanks: 'gracias|muchas gracias',
    goodbye: 'adiós|hasta luego',
  },
  it: {
    hello: 'buongiorno|buonasera|salve',
    thanks: 'grazie|grazie mille|molte grazie',
    goodbye: 'arrivederci',
  },
  pt: {
    hello: 'olá|oi|bom dia|boa tarde',
    thanks: 'obrigado|obrigada|muito obrigado',
    goodbye: 'até logo|adeus',
  },
  nl: {
    hello: 'goedemorgen|goedemiddag|goedendag',
    thanks: 'bedankt|dank je|dank u|dank je wel|dank u wel',
    goodbye: 'tot ziens',
  },
  pl: { hello: 'cześć|dzień dobry|witam', thanks: 'dziękuję|dzięki|dziękuję bardzo', goodbye: 'do widzenia' },
  sv: { hello: 'hej|god dag', thanks: 'tack|tack så mycket', goodbye: 'hej då|adjö' },
  da: { hello: 'goddag|hej med dig', thanks: 'mange tak|tusind tak', goodbye: 'farvel' },
  cs: { hello: 'ahoj|dobrý den', thanks: 'děkuji|díky|děkuju', goodbye: 'na shledanou' },
  ru: { hello: 'здравствуйте|привет|добрый день', thanks: 'спасибо|большое спасибо', goodbye: 'до свидания' },
  tr: {
    hello: 'merhaba|selam|iyi günler',
    thanks: 'teşekkürler|teşekkür ederim|sağ olun',
    goodbye: 'hoşça kal|hoşça kalın',
  },
  ja: {
    hello: 'こんにちは|おはようございます|こんばんは',
    thanks: 'ありがとう|ありがとうございます|ありがとうございました',
    goodbye: 'さようなら',
  },
  zh: { hello: '你好|您好', thanks: '谢谢|谢谢你|谢谢您', goodbye: '再见' },
  ko: { hello: '안녕하세요|안녕', thanks: '감사합니다|고맙습니다', goodbye: '안녕히 계세요' },
  ar: { hello: 'مرحبا|السلام عليكم', thanks: 'شكرا|شكرا جزيلا', goodbye: 'مع السلامة' },
}

const KIND_OF: ReadonlyMap<string, SmallTalk> = new Map(
  (Object.entries(COMMON) as [Language, Record<SmallTalk['kind'], string>][]).flatMap(([language, kinds]) =>
    (Object.entries(kinds) as [SmallTalk['kind'], string][]).flatMap(([kind, words]) =>
      words.split('|').map((word): [string, SmallTalk] => [word, { kind, language }]),
    ),
  ),
)

/** Returns the kind of a message that is only a greeting, thanks or a goodbye; null when it says more. */
export function smallTalkOf(message: string): SmallTalk | null {
  if (message.length > 80) return null
  const words = wordsOnly(message)
  return KINDS.find(([pattern]) => pattern.test(words))?.[1] ?? KIND_OF.get(words) ?? null
}
