import { questionRows } from '../../../platform/text/rows/named-rows.ts'
import { visibleText } from '../../../platform/text/words/words.ts'
import { LIST_ITEM } from './dense-lines.ts'

/** The words that mark a question, as in "Question: …", in the usual languages. ANSWER_WORDS mark its answer. */
const QUESTION_WORDS =
  'question|frage|pregunta|domanda|pergunta|vraag|pytanie|вопрос|питання|въпрос|soru|fråga|spørgsmål|spørsmål|kysymys|otázka|întrebare|kérdés|ερώτηση|질문|質問|ご質問|问题|問題|问|問|سؤال|س|שאלה|सवाल|प्रश्न'
const ANSWER_WORDS =
  'answer|antwort|réponse|reponse|respuesta|risposta|resposta|antwoord|odpowiedź|ответ|відповідь|отговор|cevap|yanıt|svar|vastaus|odpověď|odpoveď|răspuns|válasz|απάντηση|답변|답|回答|解答|答案|答|إجابة|جواب|ج|תשובה|जवाब|उत्तर'
/** These letters count as marks only before a colon, because ordinary text may begin with a letter and a full stop. */
const QUESTION_LETTERS = 'FPDVВSÚЗ'
const ANSWER_LETTERS = 'RОOSСCVÄ'
const BOLD = String.raw`(?:\*\*)?`
const SIGN = String.raw`[^\S\n]{0,3}(?:\d{1,3}[^\S\n]{0,3})?(?:[.:：．)]|(?<=[Qq問问])、)${BOLD}\s*`
const marked = (words: string, letters: string): string =>
  `${BOLD}(?:(?:${words})${SIGN}|[${letters}][^\\S\\n]{0,3}(?:\\d{1,3}[^\\S\\n]{0,3})?[:：]${BOLD}\\s*)`
const QUESTION = new RegExp(`^${marked(`${QUESTION_WORDS}|Q`, QUESTION_LETTERS)}`, 'iu')
const SURE_QUESTION = new RegExp(`^${BOLD}(?:${QUESTION_WORDS}|Q)${SIGN}`, 'iu')
const ANSWER = new RegExp(`^${marked(`${ANSWER_WORDS}|A`, ANSWER_LETTERS)}`, 'iu')
/** Below a question without a mark, only a word marks an answer: "A. Smith founded it." is one. */
const ANSWER_WORD = new RegExp(`^${BOLD}(?:${ANSWER_WORDS})${SIGN}`, 'iu')
/** The place in a line at which an answer follows its question. */
const ANSWER_BEHIND = new RegExp(
  `(?<=[?？؟]${BOLD})\\s*(?=${marked(`${ANSWER_WORDS}|A`, ANSWER_LETTERS)})`,
  'iu',
)
/** Matches a question mark at the end, or a single Japanese or Chinese sentence that ends with a question particle. */
const ASKS = /(?:[?？؟]|^[^。！？!?]{1,100}(?:(?:です|ます|ました|でしょう)か|[吗嗎])。?)(?:\*\*)?\s*$/u
const MAX_QUESTION_LENGTH = 200
/** A section with at least this many unmarked questions counts as a list of them; a single one may be part of the prose. */
const MIN_UNMARKED = 2

/** Returns whether a line is a question, by its end or by a mark before it. */
export const isQuestion = (line: string): boolean => ASKS.test(line) || SURE_QUESTION.test(line)

type Divided = { headingPath: string[]; text: string }

type Paragraph = {
  whole: string
  /** The question that the paragraph begins with, without its mark; null for another paragraph. */
  question: string | null
  /** What follows the question in the paragraph. */
  rest: string
  isMarked: boolean
}

/**
 * Makes a section of each question with its answer, with the question as its heading. Questions are recognised by marks
 * such as "Q:" and "A:", as paragraphs of their own if there are several, and in tables with a column of questions.
 * Without this, each answer would be found and shown together with all others.
 */
export function withQuestions<Section extends Divided>(sections: readonly Section[]): Section[] {
  const asking = sections.filter(({ headingPath }) => ASKS.test(headingPath.at(-1) ?? ''))
  return sections.flatMap((section) => questionSections(section, asking.length > 0 ? 1 : MIN_UNMARKED))
}

/** `fewest` is the number of unmarked questions from which a section counts as a list of them. */
function questionSections<Section extends Divided>(section: Section, fewest: number): Section[] {
  const heading = section.headingPath.at(-1) ?? ''
  const isMarkedHeading =
    SURE_QUESTION.test(heading) && (ANSWER.test(section.text) || isSureQuestion(heading))
  const path = isMarkedHeading ? unmarkedPath(section.headingPath) : section.headingPath
  const parts: { headingPath: string[]; mark: RegExp | null; texts: string[] }[] = [
    {
      headingPath: path,
      mark: isMarkedHeading ? ANSWER : ASKS.test(heading) ? ANSWER_WORD : null,
      texts: [],
    },
  ]
  const begin = (question: string, mark: RegExp | null): void =>
    void parts.push({ headingPath: [...path, question], mark, texts: [] })
  const append = (text: string): void => {
    const { texts, mark } = parts.at(-1)!
    const said = (texts.length === 0 && mark ? text.replace(mark, '') : text) || text
    if (said !== '') texts.push(said)
  }
  const paragraphs = paragraphsOf(section.text)
  const isAnswered = ({ question, rest }: Paragraph, at: number): boolean =>
    question !== null && (rest !== '' || paragraphs[at + 1]?.question === null)
  const unmarked = paragraphs.filter((one, at) => !one.isMarked && isAnswered(one, at))
  const isTaken = (one: Paragraph, at: number): boolean =>
    isAnswered(one, at) && (isPair(one, paragraphs[at + 1]) || (!one.isMarked && unmarked.length >= fewest))
  for (const [at, one] of paragraphs.entries()) {
    const rows = questionRows(one.whole.split('\n'))
    if (rows) {
      for (const { question, answer, called, more } of rows) {
        begin(question, null)
        append(called === '' || ANSWER.test(`${called}:`) ? answer : `${called}: ${answer}`)
        append(more)
      }
    } else if (isTaken(one, at)) {
      begin(one.question!, one.isMarked ? ANSWER : ANSWER_WORD)
      append(one.rest)
    } else append(one.whole)
  }
  const filled = parts.filter(({ texts }, at) => texts.length > 0 || (at === 0 && parts.length === 1))
  return filled.map(({ headingPath, texts }) => ({ ...section, headingPath, text: texts.join('\n\n') }))
}

const unmarkedPath = (path: readonly string[]): string[] => [
  ...path.slice(0, -1),
  path.at(-1)!.replace(QUESTION, ''),
]

const isSureQuestion = (line: string): boolean => SURE_QUESTION.test(line) && ASKS.test(line)

/** Returns whether a marked question has an answer that is marked, too, or is one by its mark and its question mark. */
function isPair({ rest, whole, isMarked }: Paragraph, next: Paragraph | undefined): boolean {
  return isMarked && (ANSWER.test(rest || (next?.whole ?? '')) || isSureQuestion(whole.split('\n', 1)[0]!))
}

/** Splits a text into its paragraphs; those of a code block ask nothing. */
function paragraphsOf(text: string): Paragraph[] {
  let isCode = false
  return text.split('\n\n').map((whole) => {
    const wasCode = isCode
    const fences = whole.split('\n').filter((line) => line.startsWith('```')).length
    if (fences % 2 === 1) isCode = !isCode
    return wasCode || fences > 0 ? { whole, question: null, rest: '', isMarked: false } : paragraphOf(whole)
  })
}

function paragraphOf(whole: string): Paragraph {
  const lines = whole.replace(ANSWER_BEHIND, '\n').split('\n')
  const first = lines[0]!
  const isMarked = QUESTION.test(first)
  const question = visibleText(first).replace(QUESTION, '').replaceAll('**', '').trim()
  const asks =
    (isMarked || (ASKS.test(first) && !LIST_ITEM.test(first))) &&
    question !== '' &&
    question.length <= MAX_QUESTION_LENGTH
  return asks
    ? { whole, question, rest: lines.slice(1).join('\n').trim(), isMarked }
    : { whole, question: null, rest: '', isMarked: false }
}
