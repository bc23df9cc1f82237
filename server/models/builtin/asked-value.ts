import type { Language } from '../../text/languages/language.ts'

/** A value that a question asks for and that is recognised in a text without any word of the question. */
type AskedValue = { kind: 'price' | 'hours' | 'duration'; words: readonly string[] }

const SHAPES: Record<AskedValue['kind'], RegExp> = {
  price:
    /[€$£¥￥₺₽₹₩₴]|\d\s?(?:円|元|원)|(?<![\p{L}\p{N}])(?:euros?|eur|usd|chf|gbp|zł|zl|kr|sek|nok|dkk|kč|czk|huf|lei|try|tl|lira|руб|рублей|рубля|dollars?|pounds?|دينار|درهم|ريال|جنيه)(?![\p{L}\p{N}])/iu,
  hours:
    /(?<!\d)\d{1,2}\s?[:.h：]\s?[0-5]\d(?!\d)|(?<![\d.,])\d{1,2}\s?[–-]\s?\d{1,2}(?![\d.,]|\s?[%€$])|(?<!\d)\d{1,2}\s?(?:uhr|a\.?m\.?|p\.?m\.?|h|時|点|點|시|ч)(?!\p{L})/iu,
  duration:
    /(?:\d|(?<!\p{L})(?:one|two|three|four|five|six|seven|ten|a|ein(?:e|en)?|zwei|drei|vier|fünf|sechs|zehn|une?|deux|trois|dos|tres|due|tre|twee|drie|dwa|trzy|два|три|iki|üç))[\s-]?(?:business |working |calendar )?(?:min|sec|hour|hrs?|day|week|month|year|stund|tag|werktag|woche|monat|jahr|heure|jour|semaine|mois|ans?(?!\p{L})|année|hora|día|dia|semana|mes|año|ano|ora|ore(?!\p{L})|giorn|settiman|ann[oi]|uur|uren|dag|werkdag|week|weken|maand|jaar|godzin|dni|dzień|tydz|tygod|miesi|lat(?!\p{L})|час|дн|день|недел|месяц|лет|год|saat|gün|hafta|ay(?!\p{L})|yıl|timm|timer|dagar|dage|veck|uge|måned|månad|år|日|天|小时|小時|時間|週|周|个月|個月|か月|ヶ月|年|分|분|시간|일|주|개월|년|يوم|أيام|ساعة|ساعات|أسبوع|شهر)/iu,
}
/** The English words that ask for each kind of value. For other languages, the lists of everyday words tell them. */
const ENGLISH: Record<AskedValue['kind'], readonly string[]> = {
  price: 'price prices pricing cost costs fee fees rate rates charge charges'.split(' '),
  hours: 'open opening opens close closes closing closed hours'.split(' '),
  duration: [],
}
const HOW_LONG = 'how long'

/** Returns whether a text has a value of this kind. */
export const hasValue = (text: string, { kind }: AskedValue): boolean => SHAPES[kind].test(text)

/** Returns the values that a question asks for, with the words that ask for them. */
export function askedValues(
  asked: readonly string[],
  language: Language,
  subjects: readonly { name: string; asked: readonly string[] }[],
): AskedValue[] {
  return (['price', 'hours', 'duration'] as const).flatMap((kind) => {
    const words = subjects.filter(({ name }) => name === kind).flatMap((one) => one.asked)
    if (language === 'en') words.push(...ENGLISH[kind].filter((word) => asked.includes(word)))
    if (language === 'en' && kind === 'duration' && asked.join(' ').startsWith(HOW_LONG)) words.push('long')
    return words.length > 0 ? [{ kind, words }] : []
  })
}
