import { FOUND_FROM } from '../../../knowledge/search/knowledge.ts'
import { languagesOfStopWord } from '../../../platform/text/languages/language.ts'
import { splitWords } from '../../../platform/text/words/words.ts'
import { succeeded, textOf } from '../../records/parts.ts'
import { metadataOf } from '../../records/present.ts'
import type { MessageRow } from '../../records/queries.ts'

/** A question for which the agent found nothing, with the message that was its answer. */
export type Unanswered = {
  messageId: string
  question: string
  suggestedAnswer: string | null
  askedAt: Date
}

/** The same limit as for the question of a source, since it may become one. */
const MAX_QUESTION_LENGTH = 1_000
const MAX_SUGGESTION_LENGTH = 20_000
/** Outcomes of answers that leave the question open; the last two are those of old answers. */
const OPEN: readonly string[] = ['not_found', 'partly', 'declined', 'closest']

/**
 * Returns the questions of a conversation that were left open; `messages` are its messages, oldest first. A question is
 * open if the outcome of its answer says so or, where none was reported, if a model answered without a source when the
 * search had found nothing. Without a report, an answer that is based on the result of an action counts as answered.
 */
export function findUnanswered(messages: readonly MessageRow[]): Unanswered[] {
  const found: Unanswered[] = []
  let asked: MessageRow | null = null
  for (const [place, message] of messages.entries()) {
    if (message.role === 'user') asked = message
    else if (asked && isFromNothing(message)) {
      const question = textOf(asked).trim().slice(0, MAX_QUESTION_LENGTH).toWellFormed()
      if (hasSubject(question))
        found.push({
          messageId: message.id,
          question,
          suggestedAnswer: replyTo(messages.slice(place + 1)),
          askedAt: message.created_at,
        })
    }
  }
  return found
}

/** Returns whether a team member wrote it. */
const isPersons = (message: MessageRow): boolean => metadataOf(message).author?.type === 'human_agent'

function isFromNothing(message: MessageRow): boolean {
  const { score, outcome, sources, finishReason, model, isIndexing } = metadataOf(message)
  if (isPersons(message) || isIndexing || finishReason === 'error') return false
  if (outcome) return OPEN.includes(outcome)
  if (message.parts.some((part) => part.type === 'tool-result' && succeeded(part))) return false
  // The built-in responder reports no outcome of a greeting.
  if (model === 'builtin' || score === undefined || sources?.length) return false
  return score === null || score < FOUND_FROM
}

/** Returns whether a text names anything that it could ask about: a word that is a stop word of no language. */
const hasSubject = (text: string): boolean =>
  splitWords(text).some((word) => /\p{L}{2}/u.test(word) && !languagesOfStopWord.has(word))

/** Returns what a person replied before the customer asked for something else. */
function replyTo(later: readonly MessageRow[]): string | null {
  const reply = later.find(
    (message) =>
      (isPersons(message) && textOf(message).trim() !== '') ||
      (message.role === 'user' && hasSubject(textOf(message))),
  )
  return reply && isPersons(reply)
    ? textOf(reply).trim().slice(0, MAX_SUGGESTION_LENGTH).toWellFormed()
    : null
}
