import { type ResultPart, textOf } from '../../conversations/records/parts.ts'
import type { MessageMetadata } from '../../conversations/records/present.ts'
import type { MessageRow } from '../../conversations/records/queries.ts'
import { isStopWord } from '../../text/languages/stop-words.ts'
import { asksForPerson } from '../../text/people/asks-for-person.ts'
import { readMessage } from '../../text/talk/read-message.ts'
import { splitWords } from '../../text/words/words.ts'
import type { Lexicon } from '../sentiment/lexicon.ts'

/** A question for which the agent found nothing, with the message that was its answer. */
export type Unanswered = {
  messageId: string
  question: string
  suggestedAnswer: string | null
  askedAt: Date
}

/** The same limit as for the question of a source, since it may become one. */
const LONGEST_QUESTION = 1_000
const LONGEST_SUGGESTION = 20_000
/** From this confidence on, the documents more likely than not contain what a model answered without citing them. */
export const FOUND_FROM = 0.5

/**
 * Returns the questions of a conversation (its messages, oldest first) that were answered without knowledge: the
 * built-in responder declined, or a model answered without a matching source. An answer based on an action's result
 * counts as answered.
 */
export function findUnanswered(messages: readonly MessageRow[], lexicon: Lexicon): Unanswered[] {
  const found: Unanswered[] = []
  let asked: MessageRow | null = null
  for (const [place, message] of messages.entries()) {
    if (message.role === 'user') asked = message
    else if (asked && isFromNothing(message)) {
      const question = textOf(asked).trim().slice(0, LONGEST_QUESTION).toWellFormed()
      if (!asksNothing(question, lexicon)) {
        const suggestedAnswer = replyTo(messages.slice(place + 1), lexicon)
        found.push({ messageId: message.id, question, suggestedAnswer, askedAt: message.created_at })
      }
    }
  }
  return found
}

/** Returns whether a team member wrote it (contract, section 4, "Message roles"). */
const isPersons = ({ metadata }: MessageRow): boolean =>
  (metadata as MessageMetadata | null)?.author?.type === 'human_agent'

function isFromNothing(message: MessageRow): boolean {
  const { score, sources, finishReason, model } = (message.metadata ?? {}) as MessageMetadata
  if (isPersons(message) || score === undefined || finishReason === 'error' || sources?.length) return false
  if (message.parts.some((part) => part.type === 'tool-result' && isOutcome(part))) return false
  // Without a source to quote, the built-in responder can only decline.
  return model === 'builtin' || score === null || score < FOUND_FROM
}

/** Any output that an application has sent counts; calls that run here say whether they succeeded. */
const isOutcome = ({ output, providerExecuted }: ResultPart): boolean =>
  !providerExecuted || (output as { status?: unknown } | null)?.status === 'success'

/** Small talk, the wish for a person, praise, or a message without words. */
const asksNothing = (text: string, lexicon: Lexicon): boolean =>
  readMessage(text).kind !== 'question' ||
  asksForPerson(text, { offered: false }) ||
  !splitWords(text).some(
    (word) =>
      /\p{L}{2}/u.test(word) &&
      !isStopWord(word, 'en') &&
      !isStopWord(word, 'de') &&
      word !== 'lot' &&
      lexicon.weightOf(word) <= 0,
  )

/** Returns what a person replied before the customer asked for something else. */
function replyTo(later: readonly MessageRow[], lexicon: Lexicon): string | null {
  const reply = later.find(
    (message) =>
      (isPersons(message) && textOf(message).trim() !== '') ||
      (message.role === 'user' && !asksNothing(textOf(message), lexicon)),
  )
  return reply && isPersons(reply) ? textOf(reply).trim().slice(0, LONGEST_SUGGESTION).toWellFormed() : null
}
