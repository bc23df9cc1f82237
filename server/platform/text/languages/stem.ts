import snowball from 'snowball-stemmers'
import * as lists from 'stopword'
import { foldAccents } from '../words/words.ts'

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
