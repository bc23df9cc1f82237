import { type PdfLine, roundedSize } from './pdf-lines.ts'

/** What a document tells about its Korean words, apart from those at the ends of its lines. */
export type HangulWords = {
  words: Set<string>
  /** The beginnings of the words, from two to four syllables. */
  starts: Set<string>
  /** Whether lines end only between words, so that they are of different lengths. */
  keepsWords: boolean
  /** The counters that it writes after a number without a space, and with one. */
  counters: { close: Set<string>; apart: Set<string> }
}

const LONGEST_START = 4
const HANGUL_END = /\p{Script=Hangul}+$/u
const HANGUL_START = /^\p{Script=Hangul}+/u
/** The largest distance of two lines of a paragraph, in font heights. */
const LINE_GAP = 2.2
/** The share of lines with room for another syllable from which on a document keeps its words whole. */
const ROOMY = 0.25

const list = (words: string): ReadonlySet<string> => new Set(words.split(' '))
/** Particles and endings that are never a word of their own. */
const TAILS = list(
  '는 은 를 을 가 에 의 로 와 과 도 만 서 며 고 면 나 다 요 까 께 야 든 랑 들 씩 니 게 지 여 며 에는 에도 에만 로는 로도 와는 과는 까지는 부터는',
)
const TAILS_AT_START =
  /^(?:으로|에서|에게|까지|부터|처럼|보다|마다|만큼|조차|밖에|이나|이며|이고|이라|입니|습니|니다|십시오|시오|세요|시고|시면|시기|거나|지만|면서|는데|도록|려면|려고|었|았|였|겠|셨)/
/** Forms of the verbs that follow a noun without a space, but a particle with one. */
const VERB_AT_START =
  /^(?:하[고면지며여는십세시기였]|합니|해[야서도주]|했|한(?:다|$)|할$|되[고면지며어는기었]|됩니|된|될|돼)/
/** Syllables with which a word usually ends: particles and endings. */
const LAST = /[은는을를에의로와과도만며고면다요서한할된될인게지여이가야]$/
/** Short words that are written apart. */
const ALONE = list(
  '이 그 저 수 것 등 및 한 두 세 네 더 안 못 잘 꼭 또 약 총 각 첫 할 본 중 후 전 때 곳 분 명 개 번 원 일 월 년 시 뒤 앞 위 내 외 간 매 제 단 새 온 큰 쪽 점 주 달 회 건 층 호 다섯 여섯 일곱 여덟 아홉 열',
)

/** Nouns of one syllable that follow a verb or a number. */
const DEPENDENT = list('수 것 등 및 뒤 후 전 중 때 곳 개 번 명 분')
const PARTICLE = /[은는을를에도게만로]$/

/** What counts and measures, with the particle and the ending after it, if there are any. */
const COUNTER =
  /^(원|개월|개|일|월|년|시간|시|분|초|명|회|번째|번|박|층|호점|호실|호|주일|주년|주|세|살|가지|[십백천]?[만천억]|장|잔|병|포|봉|대|권|쪽|점|배|차|인분|인|평|건|종|달|채|통|마리|그램|킬로|미터|도|퍼센트|프로|단계|등급)(?:간|씩|쯤|당|째|치|짜리|어치)?(?:[은는을를이가에의로도와과만며고]|부터|까지|에서|에는|마다|으로|이나|이며|이고|입니다|이상|이하)?$/
const COUNTED = /\d(\s?)(\p{Script=Hangul}+)/gu

/** Returns whether a syllable ends with a consonant, after which the particle has another form. */
const hasFinal = (syllable: string): boolean => (syllable.charCodeAt(0) - FIRST_SYLLABLE) % FINALS !== 0
const FIRST_SYLLABLE = 0xac00
const FINALS = 28

/** Learns the Korean words of a document. */
export function hangulWords(pages: readonly PdfLine[][]): HangulWords {
  const words = new Set<string>()
  const starts = new Set<string>()
  const counters = { close: new Set<string>(), apart: new Set<string>() }
  for (const { text } of pages.flat()) {
    for (const [, space, word = ''] of text.matchAll(COUNTED)) {
      const counter = COUNTER.exec(word)?.[1]
      if (counter) counters[space ? 'apart' : 'close'].add(counter)
    }
    for (const token of text.split(/[^\p{Script=Hangul}]+/u).slice(1, -1)) {
      words.add(token)
      for (let length = 2; length <= Math.min(token.length, LONGEST_START); length += 1)
        starts.add(token.slice(0, length))
    }
  }
  let broken = 0
  let roomy = 0
  for (const page of pages) {
    for (const [at, line] of page.entries()) {
      const next = page[at + 1]
      if (!next || !HANGUL_END.test(line.text) || !HANGUL_START.test(next.text)) continue
      if (!isOfOneText(line, next)) continue
      broken += 1
      if (hasRoom(line, page)) roomy += 1
    }
  }
  return { words, starts, keepsWords: roomy > 0 && roomy >= broken * ROOMY, counters }
}

const isOfOneText = (line: PdfLine, next: PdfLine): boolean =>
  Math.abs(next.x - line.x) <= line.size &&
  line.y - next.y < line.size * LINE_GAP &&
  roundedSize(next) === roundedSize(line) &&
  next.font === line.font &&
  line.cells.length === 1 &&
  next.cells.length === 1

/** Returns whether another syllable would fit into a line, so that it ends with a word. */
export function hasRoom(line: PdfLine, lines: readonly PdfLine[]): boolean {
  const beside = lines.filter(({ x, cells }) => Math.abs(x - line.x) <= line.size && cells.length === 1)
  const edge = Math.max(line.right, ...beside.map(({ right }) => right))
  return edge - line.right > line.size
}

/**
 * Returns whether a number and what it counts are written together: as elsewhere in the document, and otherwise
 * without a space, which is the more common way.
 */
function isCounted(right: string, { counters, keepsWords }: HangulWords): boolean {
  const counter = COUNTER.exec(HANGUL_START.exec(right)?.[0] ?? '')?.[1]
  if (counter === undefined || keepsWords) return false
  return counters.close.has(counter) || !counters.apart.has(counter)
}

/**
 * Returns whether a line break is inside a Korean word. Programs may break Korean text after any syllable, and nothing in
 * the file tells whether there was a space. Without any sign, the parts are joined, because compounds may be written
 * together, but no word may be written with a space in it.
 */
export function breaksHangul(left: string, right: string, hangul: HangulWords): boolean {
  const { words, starts, keepsWords } = hangul
  if (/\d$/.test(left)) return isCounted(right, hangul)
  const before = HANGUL_END.exec(left)?.[0]
  const after = HANGUL_START.exec(right)?.[0]
  if (before === undefined || after === undefined || keepsWords) return false
  if (TAILS.has(after) || TAILS_AT_START.test(after)) return true
  if (VERB_AT_START.test(after)) return !PARTICLE.test(before)
  if (after === '이') return hasFinal(before.at(-1)!)
  if (DEPENDENT.has(after) && before.length > 1) return false
  const isKnown = starts.has((before + after).slice(0, Math.min(before.length + 2, LONGEST_START)))
  if (before.length < LONGEST_START && isKnown && !words.has(before)) return true
  if (words.has(before) || ALONE.has(before)) return false
  return before.length === 1 || !LAST.test(before)
}
