import { guessLanguageOfWords, type Language } from './language.ts'
import { isStopWord } from './stop-words.ts'

/** The words with which a follow-up begins, and the pronouns that refer back to the message before it. */
type Words = { opening: string; pointing: string }

const WORDS: Partial<Record<Language, Words>> = {
  en: {
    opening: 'and but so or then also',
    pointing: 'it its that this those these they them their there one ones same he she him her',
  },
  de: {
    opening: 'und aber oder dann auch',
    pointing: `es das dies diese dieser dieses diesen diesem dort davon dafür damit dazu dabei darüber deren dessen
      sie ihn ihm gleiche`,
  },
  fr: {
    opening: 'et mais ou alors puis aussi',
    pointing: 'elle ils elles ça cela ceci celui celle ceux celles lui',
  },
  es: {
    opening: 'y e pero o entonces también',
    pointing: 'eso esto ese esa esos esas aquello él ella ellos ellas allí ahí',
  },
  it: {
    opening: 'e ed ma o allora anche',
    pointing: 'ciò questo questa questi queste quello quella esso essa essi lui lei ne lì',
  },
  pt: {
    opening: 'e mas ou então também',
    pointing: 'isso isto aquilo ele ela eles elas esse essa deles dele dela nisso ali',
  },
  nl: {
    opening: 'en maar of dan ook',
    pointing: 'dit deze hij ze hem haar daar daarvoor daarvan daarmee ervan erop hiervoor',
  },
  sv: { opening: 'och men eller då', pointing: 'det den dem dessa detta denna där han hon' },
  da: { opening: 'og men eller så', pointing: 'det den dem disse dette denne han hun' },
  no: { opening: 'og men eller så', pointing: 'det den dem disse dette denne han hun' },
  fi: {
    opening: 'ja mutta entä tai entäs',
    pointing: 'se sen sitä siitä siihen ne niitä niiden tämä tätä siellä',
  },
  pl: { opening: 'a i ale lub', pointing: 'to ten ta tego tej tym jego jej go je ich tam' },
  cs: { opening: 'a ale nebo i', pointing: 'to ten ta toho té tom jeho její je jich tam' },
  ru: {
    opening: 'а и но или тогда также',
    pointing: 'это этот эта этого этой этим его её ее их им он она они там',
  },
  tr: { opening: 'peki ve ama ya', pointing: 'bu bunu bunun buna o onu onun ona şu orada' },
  ar: { opening: 'و وهل وماذا وكيف وكم لكن أو', pointing: 'هذا هذه ذلك تلك هو هي هم هناك' },
}

/** Matches how a continuation begins or ends in scripts without spaces, as in "那周六呢" and "월요일은요". */
const DENSE_OPENING =
  /^(?:それから|それで|では|じゃあ|じゃ|また|そして|でも|那(?![里裡裏])|还有|還有|而且|但是|另外|그럼|그러면|그리고|그런데)|^.{1,12}呢$|(?:은|는|면|라면|도|만|에는|에서는|까지는|부터는)요$/u
/** Matches pronouns that refer back, anywhere in a message. */
const DENSE_POINTING =
  /それ|これ|その|この|あれ|そこ|它|牠|这|這|那(?![里裡裏])|(?<![其吉])他|她|그것|이것|그거|이거|그건|이건|거기/u
/** Matches a Japanese message that names a subject without asking anything about it, such as "子どもの場合は？". */
const DENSE_SUBJECT_ALONE = /^.{1,12}(?:は|なら|だと|だったら|の場合)$/u

const LISTS = new Map(
  Object.entries(WORDS).map(([language, { opening, pointing }]) => [
    language as Language,
    { opening: new Set(opening.split(/\s+/)), pointing: new Set(pointing.split(/\s+/)) },
  ]),
)
/** Matches the Arabic prefix for "and" on an article, a preposition or a question word. */
const JOINED_AND =
  /^و(?:ال|لل|بال|كال|لي$|هل$|متى$|اين$|أين$|كيف$|كم$|ماذا$|ما$|من$|في$|على$|الى$|إلى$|عن$|مع$|بعد$|قبل$|يوم$|هذا$|هذه$|اذا$|إذا$|لو$|لماذا$)/u
const LONGER_OPENINGS =
  /^(?:what about|how about|why not|wie ist es|was ist mit|qu en est il|qué tal|e se|wat als)\b/
/** "Puis-je …" asks for a permission, while "puis" alone continues. */
const COMPLETE_OPENINGS = /^puis je\b/
/** These words do not point back here, because they stand for nothing. */
const EXPLETIVES = /\b(?:is there|are there|there is|there are|gibt es|es gibt|finns det|det finns)\b/g
/** These words are articles, too, and point back only if no significant word follows. */
const ARTICLES = new Set(['das', 'det', 'den', 'dem'])
/** A single letter is a word of another kind in most languages. */
const SHORTEST = 2
const MOST_UNTOLD = 5

/**
 * Returns whether the folded words of a message refer back to the conversation, as in "and …" or "how much is it?".
 */
export function goesOn(words: readonly string[]): boolean {
  if (opensWithMore(words) || DENSE_POINTING.test(words.join(''))) return true
  const language = guessLanguageOfWords(words)
  const own = LISTS.get(language)
  if (!own) return false
  const meant = words.join(' ').replace(EXPLETIVES, '').split(' ')
  const isArticle = (word: string, next: string | undefined): boolean =>
    ARTICLES.has(word) && next !== undefined && !isStopWord(next, language)
  return meant.some((word, at) => own.pointing.has(word) && !isArticle(word, meant[at + 1]))
}

/**
 * Returns whether a message begins like a continuation: "and …", "what about …". Such a message is not complete by
 * itself. If it is too short to tell its language, the earlier messages tell it.
 */
export function opensWithMore(words: readonly string[], earlier: readonly string[] = []): boolean {
  const start = words.slice(0, 4).join(' ')
  if (COMPLETE_OPENINGS.test(start)) return false
  if (LONGER_OPENINGS.test(start) || JOINED_AND.test(words[0] ?? '')) return true
  if (DENSE_OPENING.test(words.join(''))) return true
  const told = guessLanguageOfWords(words)
  const language = told === 'other' ? guessLanguageOfWords(earlier) : told
  if (LISTS.get(language)?.opening.has(words[0]!)) return true
  // The language of a few words is uncertain, and words of one language have other meanings in another.
  return (
    words.length <= MOST_UNTOLD &&
    [...LISTS].some(([, { opening }]) => words[0]!.length >= SHORTEST && opening.has(words[0]!))
  )
}

/** Returns whether a message names a subject alone, in a script without spaces. */
export const namesSubjectAlone = (words: readonly string[]): boolean =>
  DENSE_SUBJECT_ALONE.test(words.join(''))
