import { isDense } from '../../../text/languages/dense-script.ts'
import { goesOn } from '../../../text/languages/goes-on.ts'
import { splitSentences } from '../../../text/words/sentences.ts'
import { splitWords } from '../../../text/words/words.ts'

/**
 * A question that may be answered by itself, and what was said directly before it in the same message. It is `certain`
 * to stand alone if it is a sentence and nothing was said before it.
 */
export type AskedQuestion = { question: string; before: string | null; certain: boolean }

const LONGEST_READ = 8_000
/** More questions than this are answered as one message. */
const MOST_QUESTIONS = 4
/** From this many words on, a message with one question is searched for that question. */
const LONG = 60
const FEWEST_WORDS = 3
const FEWEST_DENSE_LETTERS = 4
const LONGEST_BEFORE = 300

const ASKS = /[?？؟]["'”»)]*$/
const AND = /^(?:and|und|et|y|e|en|och|og|a|i|и|та|і|ve|以及|还有|それと|そして|그리고)[\s,]+/iu
/** Two questions often share one mark: "When are you open and how do I get there?" */
const SECOND_HALF =
  /[\s,;]+(?:and\s(?=(?:how|what|when|where|which|who|why|can|do|does|is|are)\s)|und\s(?=(?:wie|was|wann|wo|wer|welche[rsn]?|warum|kann|gibt)\s)|et\s(?=(?:comment|quand|où|quel(?:le)?s?|combien|pourquoi)\s)|y\s(?=(?:cómo|cuándo|dónde|cuánto|qué)\s)|e\s(?=(?:come|quando|dove|quanto|qual[ei]?|como|onde)\s)|en\s(?=(?:hoe|wat|wanneer|waar|welke)\s)|och\s(?=(?:hur|vad|när|var)\s)|og\s(?=(?:hvordan|hvad|hvornår|hvor|hva|når)\s))/iu

/**
 * Splits a message that asks several questions, each of which can stand alone, and finds the one question of a long
 * message. Returns null for a message that is best searched as a whole.
 */
export function questionsOfMessage(text: string): AskedQuestion[] | null {
  const read = text.slice(0, LONGEST_READ)
  const sentences = splitSentences(read, 'other').flatMap((whole) =>
    halvesOf(whole).map((sentence, _, halves) => ({ sentence, isWhole: halves.length === 1 })),
  )
  const groups: AskedQuestion[] = []
  let said = ''
  for (const { sentence, isWhole } of sentences) {
    if (!ASKS.test(sentence)) {
      said = `${said} ${sentence}`.trim().slice(-LONGEST_BEFORE)
      continue
    }
    const question = sentence.replace(AND, '')
    const last = groups.at(-1)
    if (last && !standsAlone(question)) last.question += ` ${sentence}`
    else groups.push({ question, before: said || null, certain: isWhole && said === '' })
    said = ''
  }
  if (groups.length > MOST_QUESTIONS || groups.length === 0) return null
  if (groups.length === 1) return splitWords(read).length >= LONG ? groups : null
  return groups
}

function halvesOf(sentence: string): string[] {
  const half = SECOND_HALF.exec(sentence)
  if (!half || !ASKS.test(sentence)) return [sentence]
  const [first, second] = [sentence.slice(0, half.index), sentence.slice(half.index + half[0].length)]
  return standsAlone(first) && standsAlone(second) ? [`${first}?`, second] : [sentence]
}

function standsAlone(question: string): boolean {
  const words = splitWords(question)
  const isLong = words.some(isDense)
    ? words.join('').length >= FEWEST_DENSE_LETTERS
    : words.length >= FEWEST_WORDS
  return isLong && !goesOn(words)
}
