import snowball from 'snowball-stemmers'
import * as lists from 'stopword'
import { foldAccents, splitWords } from '../words/words.ts'

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

export type Stemmer = (word: string, language: Language) => string

const ALGORITHMS: Partial<Record<Language, string>> = {
  en: 'english',
  de: 'german',
  fr: 'french',
  es: 'spanish',
  it: 'italian',
  pt: 'portuguese',
  nl: 'dutch',
  sv: 'swedish',
  da: 'danish',
  no: 'norwegian',
  fi: 'finnish',
  cs: 'czech',
  ru: 'russian',
  tr: 'turkish',
  ar: 'arabic',
  hu: 'hungarian',
  ro: 'romanian',
}

/**
 * Creates a stemmer that caches up to `capacity` words of each language; discard it when the work is done. Stems have
 * no accents. The words of a language without an algorithm stay as they are.
 */
export function createStemmer(capacity = 50_000): Stemmer {
  const stemmers = new Map<Language, (word: string) => string>()
  return (word, language) => {
    let stem = stemmers.get(language)
    if (!stem) {
      const name = ALGORITHMS[language]
      const algorithm = name ? snowball.newStemmer(name) : { stem: (whole: string) => whole }
      stem = remembered(algorithm, capacity)
      stemmers.set(language, stem)
    }
    return stem(word)
  }
}

/** Returns an Arabic word with one form of the last letters that many people write in place of each other. */
const withOneEnding = (word: string): string => word.replace(/(?<!ت)ه$/u, 'ة').replace(/ى$/u, 'ي')

function remembered(algorithm: { stem(word: string): string }, capacity: number): (word: string) => string {
  const known = new Map<string, string>()
  return (word) => {
    const found = known.get(word)
    if (found !== undefined) return found
    // The time of the algorithms grows fast with the length, and some of them remove digits from numbers.
    const isWhole = word.length > 60 || /\p{N}/u.test(word)
    const stem = foldAccents(isWhole ? word : algorithm.stem(withOneEnding(word)))
    if (known.size >= capacity) known.clear()
    known.set(word, stem)
    return stem
  }
}

/** The languages with a list of stop words; `other` is any other language, or one that cannot be determined. */
export type Language =
  | 'en'
  | 'de'
  | 'fr'
  | 'es'
  | 'it'
  | 'pt'
  | 'nl'
  | 'pl'
  | 'sv'
  | 'da'
  | 'no'
  | 'fi'
  | 'cs'
  | 'ru'
  | 'tr'
  | 'ar'
  | 'ja'
  | 'zh'
  | 'ko'
  | 'uk'
  | 'bg'
  | 'el'
  | 'he'
  | 'hi'
  | 'hu'
  | 'ro'
  | 'fa'
  | 'other'

const ENGLISH = `a about above after again all also am an and any anybody anyone anything are aren as at be because
been before being below between both but by can cannot could couldn d did didn do does doesn doing don down during
each else ever every few for from further get gets getting got had hadn has hasn have haven having he hello her here
hers herself hey hi him himself his how i if in into is isn it its itself just let like ll m me might more most much
must mustn my myself need no nor not now of off ok okay on once only onto or other our ours ourselves out over own
please re really s same shall she should shouldn so some somebody someone something such t tell than thank thanks that
the their theirs them themselves then there these they this those through to too under until up us ve very want was
wasn we were weren what when where whether which while who whom whose why will with within without wonder wondering
would wouldn you your yours yourself yourselves`

const GERMAN = `aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf
aus bei beim bin bis bist bitte da dabei damit dann das dass dazu dein deine deinem deinen deiner dem den denn der
deren des dessen dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer
eines einige er es etwas euch euer eure eurem euren eurer für gegen gern gerne gibt haben habe habt hallo hat hatte
hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in ins irgendwie ist ja jede jedem jeden
jeder jedes jetzt kann kannst kein keine keinem keinen keiner können könnt könnte könnten man mehr mein meine meinem
meinen meiner mich mir mit möchte möchten müssen muss nach nein nicht noch nun nur ob oder ohne schon sehr sein seine
seinem seinen seiner selbst sich sie sind so soll sollen sollte sondern sonst über um und uns unser unsere unserem
unseren unserer unter vom von vor wann war waren warum was weil welche welchem welchen welcher welches wenn wer werde
werden wie wieder will wir wird wo wofür wollen womit worden wurde wurden zu zum zur zwar zwischen danke
darf darfst dürfen dürft müsste müssten`

/** Words of questions and elided articles that are missing from the package's lists. */
const OF_QUESTIONS: Partial<Record<Language, string>> = {
  fr: `à ai ainsi aller alors as aussi avez avoir c ceci cela celle celui cet cette ceux chez combien comme comment d
    dans depuis dois doit donc dont du elle elles en entre es est et être eu fait faire faut il ils j je l la le les
    leur leurs lui m ma mais me mes moi mon n ne non nos notre nous on ont ou où par pas pendant peu peut peuvent peux
    plus pour pourquoi pouvez puis qu quand que quel quelle quelles quels qui quoi s sa sans se sera ses si soit son
    sont sous suis sur t ta te tes toi ton tous tout toute toutes très tu un une va vais veux vos votre voudrais vous y
    bonjour merci svp plaît oui contre vers avant après fera font vont quelque chaque aucun aucune toujours`,
  es: `al algo alguien alguna algunas alguno algunos ante antes aquí así aún cada como cómo con cuál cuáles cualquier
    cuándo cuando cuánta cuántas cuánto cuántos debe debo del desde después dónde donde dos él ella ellas ellos era eran
    eres es esa esas ese eso esos esta está estaba están estas este esto estos estoy fue gracias gustaría ha haber había
    hace hacer hacia han has hasta hay he hola la las le les lo los más me mi mis mismo muy nada ni nos nosotros o os otra
    otras otro otros para pero poco por porque puede pueden puedes puedo que qué quien quién quiénes quiero se sea según
    ser será si sí sido sin sobre sois solo son soy su sus también tan te tener tengo ti tiene tienen tienes toda todas
    todo todos tu tú tus un una unas uno unos usted ustedes va vamos voy y ya yo hará haría hago hacen algún ir vas`,
  it: `c c'è ciao come cosa cos dove d devo di e è grazie l m n perché posso potrei qual quale quali quando quanta quante
    quanti quanto s salve si sì sono un v vorrei fare fa ogni può possono`,
  pt: `aos como consigo devo é está estão eu fazer há isso isto lhe não no na nos nas num numa o obrigado obrigada olá
    onde ou para pelo pela por porque porquê pode podem posso preciso qual quais quando quanta quantas quanto quantos que
    quê quem quero sem ser seu sua são também tem tenho um uma você vocês faz faço fazem vai vão cada contra`,
  nl: `bedankt graag hallo hoe hoeveel kan kun kunnen kunt moet moeten mijn mogen op waar waarom wanneer wat welk welke wie
    wil willen worden zou wordt gaat gaan ga doet doe mag`,
  pl: `cześć czy dlaczego dziękuję dzień dobry gdzie ile jak jaka jaki jakie jest kiedy kto która które który mam mogę
    można muszę proszę witam`,
  sv: `hej hur kan måste när tack vad var varför vem vilka vilken vilket vill`,
  da: `hej hvad hvem hvilke hvilken hvilket hvor hvordan hvorfor hvornår kan må skal tak vil`,
  no: `hei hva hvem hvilke hvilken hvilket hvor hvordan hvorfor kan må når skal takk vil`,
  cs: `ahoj co děkuji dobrý den jak jaká jaké jaký je kde kdo kdy která které který kolik mám mohu můžu musím proč prosím`,
  ru: `здравствуйте можно ли какой какая какое какие сколько почему нужно спасибо пожалуйста могу`,
  tr: `hangi kaç merhaba nasıl neden nedir nerede ne kadar var yok mı mi mu mü teşekkürler`,
  fi: `hei kiitos kuinka miksi milloin missä mikä mitä miten onko pitää voiko voin`,
  uk: `вітаю добрий день чи як яка який яке які коли де скільки чому можна треба потрібно дякую будь ласка можу хочу ви ваш
    ваша ваші це цей що`,
  bg: `имате имам здравейте добър ден ли как каква какъв какво кога къде колко защо може мога трябва благодаря моля искам вие ваш вашата
    това този да се`,
  el: `γεια σας και το τα η ο οι τι πώς πού πότε πόσο πόσα κάνει είναι θα να δεν με σε για από στο στη στην στα του της των
    τον την μου έχω έχει έχετε μπορώ μπορείτε ποιος ποια ποιο γιατί αν ή ευχαριστώ παρακαλώ πρέπει θέλω`,
  he: `שלום איך מה מתי איפה כמה למה האם אפשר אני לי של את על עם זה זאת יש אין תודה בבקשה צריך יכול רוצה`,
  hi: `नमस्ते क्या कैसे कब कहाँ कहां कितना कितने कितनी क्यों कौन मैं मुझे मेरा मेरी आप आपका आपकी है हैं का की के को में से पर और कर
    करें सकता सकते सकती धन्यवाद कृपया चाहिए`,
  hu: `szia üdvözlöm hogyan mikor hol mennyi mennyibe miért kell lehet tudok szeretnék köszönöm kérem van hány melyik`,
  ro: `bună ziua cum când unde cât câte câți de ce trebuie pot vreau mulțumesc rog este sunt aveți există`,
  fa: `سلام چگونه چطور چه کی کجا چقدر چند چرا آیا من شما این آن است هست می را که در از به با برای ممنون لطفا لطفاً باید`,
  zh: `可以 可不可以 能 能不能 能否 不能 需要 需 要 不要 要不要 怎么 怎麼 怎样 怎樣 怎么办 怎麼辦 如何 多少 什么 什麼 哪里 哪裡 哪儿 哪些 哪个
    哪個 哪一 谁 誰 为什么 為什麼 为何 是否 是不是 有没有 有沒有 会不会 會不會 会 會 吗 嗎 呢 吧 啊 呀 您 您好 你好 请问 請問 谢谢 謝謝 麻烦 麻煩 我们
    我們 你们 你們 他们 他們 她们 它们 咱们 自己 这 這 那 这个 這個 那个 那個 这些 那些 这样 這樣 那样 如果 要是 的话 的話 还是 還是 或者 以及 因为
    因為 所以 但是 可是 不过 不過 然后 然後 想 想要 应该 應該 必须 必須 一下 一个 一個 现在 現在 已经 已經 没 沒 没有 沒有 让 讓 被 把 给 給
    得 才 就 也 都 还 還 又 再 很 太 最 办 辦 它 它的 我的 你的 他的 你们的 我们的`,
  ko: `얼마 얼마인가요 얼마예요 얼마에요 얼마나 얼마죠 얼만가요 어떻게 어떤 어디 어디서 어디에서 언제 언제까지 무엇 뭐 뭔가요 뭐예요 왜 몇 되나요 돼요 되죠
    있나요 있어요 있을까요 없나요 인가요 하나요 해요 할까요 하죠 수 가능한가요 가능해요 가능할까요 좀 제가 저 저는 저희 우리 그 이 저기 혹시 하면 하는
    되는 있는 되면 해도 하려면 주세요 알려주세요 싶어요 싶은데요 싶습니다 합니까 됩니까 있습니까 안녕하세요 감사합니다`,
  ja: `か です ます ください どう どの どこ いつ 何 なに ですか ますか は を に が の で と も へ から まで`,
}

const SETS: Record<Language, ReadonlySet<string>> = {
  en: setOf(ENGLISH.split(/\s+/)),
  de: setOf(GERMAN.split(/\s+/)),
  fr: setOf([...lists.fra, ...own('fr')]),
  es: setOf([...lists.spa, ...own('es')]),
  it: setOf([...lists.ita, ...own('it')]),
  pt: setOf([...lists.por, ...own('pt')]),
  nl: setOf([...lists.nld, ...own('nl')]),
  pl: setOf([...lists.pol, ...own('pl')]),
  sv: setOf([...lists.swe, ...own('sv')]),
  da: setOf([...lists.dan, ...own('da')]),
  no: setOf([...lists.nob, ...own('no')]),
  fi: setOf([...lists.fin, ...own('fi')]),
  cs: setOf([...lists.ces, ...own('cs')]),
  ru: setOf([...lists.rus, ...own('ru')]),
  tr: setOf([...lists.tur, ...own('tr')]),
  ar: setOf(lists.ara),
  ja: setOf([...lists.jpn, ...own('ja')]),
  zh: setOf([...lists.zho, ...own('zh')]),
  ko: setOf([...lists.kor, ...own('ko')]),
  uk: setOf([...lists.ukr, ...own('uk')]),
  bg: setOf([...lists.bul, ...own('bg')]),
  el: setOf([...lists.ell.map(withFinalSigma), ...own('el')]),
  he: setOf([...lists.heb, ...own('he')]),
  hi: setOf([...lists.hin, ...own('hi')]),
  hu: setOf([...lists.hun, ...own('hu')]),
  ro: setOf([...lists.ron, ...own('ro')]),
  fa: setOf([...lists.fas, ...own('fa')]),
  other: new Set(),
}

/** Returns the languages in which a folded word is a stop word exactly as written, including accents. */
export const languagesOfStopWord: ReadonlyMap<string, readonly Language[]> = languagesByWord()

/** Returns whether a folded word says nothing about the subject of a text in this language. */
export function isStopWord(word: string, language: Language): boolean {
  return SETS[language].has(word)
}

/** The package writes every sigma alike. */
function withFinalSigma(word: string): string {
  return word.replace(/σ$/, 'ς')
}

function own(language: Language): string[] {
  return (OF_QUESTIONS[language] ?? '').split(/\s+/)
}

/** People omit accents, so each word is also known without them. */
function setOf(words: readonly string[]): ReadonlySet<string> {
  const written = words
    .map((word) => word.normalize('NFKC').toLowerCase().trim())
    .filter((word) => word !== '')
  return new Set([...written, ...written.map(foldAccents)])
}

function languagesByWord(): Map<string, Language[]> {
  const found = new Map<string, Language[]>()
  for (const [language, words] of Object.entries(SETS) as [Language, ReadonlySet<string>][]) {
    for (const word of words) found.set(word, [...(found.get(word) ?? []), language])
  }
  return found
}
