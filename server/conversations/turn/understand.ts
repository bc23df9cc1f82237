import type { Handover } from '../../models/builtin/hand-over.ts'
import { languageEndingWith } from '../../models/builtin/phrases/phrases.ts'
import type { Language } from '../../text/languages/language.ts'
import { languagesOfRequest, offersPerson } from '../../text/people/asks-for-person.ts'
import { type Message, readMessage } from '../../text/talk/read-message.ts'
import { asTalkLanguage, guessTalkLanguage, talkLanguageOfQuestion } from '../../text/talk/talk-language.ts'
import type { TalkLanguage } from '../../text/talk/talk-words.ts'
import { splitWords } from '../../text/words/words.ts'
import { textOf } from '../records/parts.ts'
import type { TranscriptMessage } from '../records/queries.ts'

/** What the newest message of a conversation is. */
type Understood = Omit<Message, 'kind'> & { kind: Message['kind'] | 'person' }

/** The most earlier messages of the customer that tell the language of the conversation. */
const MOST_EARLIER = 5
/** A single word, such as "hi", does not tell the language of a conversation. */
const FEW_WORDS = 3

/**
 * Says what a customer wants with `text`, the messages since the agent's last one. For a question, `language` is that
 * of the conversation before it; null if there was none.
 */
export function understand(
  text: string,
  transcript: readonly TranscriptMessage[],
  agent: { documents: Language | null; instructions: string },
): Understood {
  const last = lastSaid(transcript)
  const spoken = languageBefore(transcript)
  const documents = agent.documents && asTalkLanguage(agent.documents)
  const expected = [spoken, documents ?? guessTalkLanguage(agent.instructions)].filter((one) => one !== null)
  const offered = offersPerson(last)
  const requests = languagesOfRequest(text, { offered })
  const message = readMessage(text, expected)
  // A thumb is a yes, too.
  const isAccepted = offered && (message.kind === 'yes' || message.kind === 'acknowledgement')
  if (requests.length > 0 || isAccepted) {
    const language = languageOfPerson(text, requests, expected, offered ? last : null)
    return { kind: 'person', language, isSure: true, question: text }
  }
  return message.kind === 'question' ? { ...message, language: spoken } : message
}

/** A short yes is understood in many languages, so the offer comes first; without one, what the conversation tells. */
function languageOfPerson(
  text: string,
  requests: readonly TalkLanguage[],
  expected: readonly TalkLanguage[],
  offer: string | null,
): TalkLanguage {
  const offered = offer === null ? null : (languageEndingWith(offer, 'offer') ?? guessTalkLanguage(offer))
  const likely = [offered, ...expected, guessTalkLanguage(text)]
  return likely.find((one) => one && requests.includes(one)) ?? requests[0] ?? offered ?? 'en'
}

function languageBefore(transcript: readonly TranscriptMessage[]): TalkLanguage | null {
  const last = lastSaid(transcript)
  const answered = transcript.slice(0, transcript.findLastIndex(({ role }) => role === 'assistant') + 1)
  const written = answered
    .filter(({ role }) => role === 'user')
    .slice(-MOST_EARLIER)
    .map(textOf)
    .join('\n')
  const told =
    languageEndingWith(last, 'hello') ?? languageEndingWith(last, 'thanks') ?? guessTalkLanguage(written)
  if (told !== null) return told
  const likely = splitWords(written).length >= FEW_WORDS ? talkLanguageOfQuestion(written, 'other') : 'other'
  return likely === 'other' ? guessTalkLanguage(last) : likely
}

/** Returns what the agent said last; empty if it has not said anything. */
export function lastSaid(transcript: readonly TranscriptMessage[]): string {
  const last = transcript.findLast(({ role }) => role === 'assistant')
  return last ? textOf(last) : ''
}

/** The most messages that are answered together. */
const MOST_TOGETHER = 5

/** Returns the place of the customer's newest message. An answer that waits for an action may follow it. */
export const lastAskedAt = (transcript: readonly TranscriptMessage[]): number =>
  transcript.findLastIndex(({ role }) => role === 'user')

/**
 * Returns what the customer asks, as one text: the messages since the agent's last one or, when that one is to be
 * continued, since the one before it.
 */
export function askedText(transcript: readonly TranscriptMessage[]): string {
  const until = transcript.slice(0, lastAskedAt(transcript) + 1)
  const from = until.findLastIndex(({ role }) => role === 'assistant') + 1
  return until.slice(from).slice(-MOST_TOGETHER).map(textOf).join('\n')
}

const LONGEST_SUBJECT = 120
const MOST_MESSAGES = 5

/** Returns the call of the escalation action for a customer who asked for a person. */
export function handoverTo(
  tool: string,
  language: TalkLanguage,
  transcript: readonly TranscriptMessage[],
): Handover {
  const written = transcript.filter(({ role }) => role === 'user').map((said) => textOf(said).trim())
  // The topic is usually in the message before the request for a person.
  const about = written.at(-2) ?? written.at(-1) ?? ''
  const subject =
    about.replace(/\s+/g, ' ').slice(0, LONGEST_SUBJECT).toWellFormed() || 'A person was asked for'
  const summary = `A person was asked for. The last messages:\n${written
    .slice(-MOST_MESSAGES)
    .map((text) => `> ${text.slice(0, 1_000).toWellFormed()}`)
    .join('\n')}`
  return { tool, input: { subject, summary }, language }
}
