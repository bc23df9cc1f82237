import type { Handover } from '../../ai/built-in/input.ts'
import type { TalkMessage } from '../../knowledge/search/answering/retrieve.ts'
import {
  type CustomerLanguage,
  isCustomerLanguage,
} from '../../platform/text/languages/customer-sentences.ts'
import { guessLanguage, type Language } from '../../platform/text/languages/language.ts'
import { textOf } from '../records/parts.ts'
import type { TranscriptMessage } from '../records/queries.ts'

/** The most messages that are answered together. */
const MAX_TOGETHER = 5

/** Returns the messages up to the customer's newest. An answer that waits for an action may follow it. */
const untilAsked = (transcript: readonly TranscriptMessage[]): readonly TranscriptMessage[] =>
  transcript.slice(0, transcript.findLastIndex(({ role }) => role === 'user') + 1)

/**
 * Returns what the customer asks, as one text: the messages since the agent's last one or, when that one is to be
 * continued, since the one before it.
 */
export function askedText(transcript: readonly TranscriptMessage[]): string {
  const until = untilAsked(transcript)
  const from = until.findLastIndex(({ role }) => role === 'assistant') + 1
  return until.slice(from).slice(-MAX_TOGETHER).map(textOf).join('\n')
}

/** Returns a conversation up to the message to answer as the search reads it. */
export const talkOf = (transcript: readonly TranscriptMessage[]): TalkMessage[] =>
  untilAsked(transcript).map((said) => {
    const text = textOf(said)
    return { role: said.role, text: said.role === 'user' ? withoutNotes(text) : text }
  })

/** Matches a line that a channel adds, such as the name of a file, and where a mail showed a picture. */
const NOTES = /^\[.+\]$|\[cid:[^\]\n]{0,500}\]/gm
const SIGNATURE = /^-- ?$/m

/** Removes what the customer did not write as words: names of files, places of pictures and a mail's signature. */
function withoutNotes(text: string): string {
  const end = SIGNATURE.exec(text)?.index ?? text.length
  return text.slice(0, end).replace(NOTES, '').trim()
}

/**
 * Returns the language in which the customer is told what no document says: that of their message, else of what they
 * wrote before, else of the documents; English if it is unknown or has no sentences.
 */
export async function languageFor(
  talk: readonly TalkMessage[],
  documents: () => Promise<Language[]>,
): Promise<CustomerLanguage> {
  const written = talk.filter(({ role }) => role === 'user').map(({ text }) => text)
  const guesses = [written.at(-1) ?? '', written.join('\n')].map(guessLanguage)
  const told = guesses.find((one) => one !== 'other') ?? (await documents())[0] ?? 'en'
  return isCustomerLanguage(told) ? told : 'en'
}

const MAX_SUBJECT_LENGTH = 120
const MAX_MESSAGES = 5

/** Returns the call of the escalation action. */
export function handoverTo(
  tool: string,
  transcript: readonly TranscriptMessage[],
  when: Handover['when'],
): Handover {
  const written = transcript.filter(({ role }) => role === 'user').map((said) => textOf(said).trim())
  // What it is about is usually in the message before the wish for a person.
  const about = (when === 'asked' ? written.at(-2) : null) ?? written.at(-1) ?? ''
  const reason = when === 'asked' ? 'A person was asked for' : 'No answer was found in the documents'
  const subject = about.replace(/\s+/g, ' ').slice(0, MAX_SUBJECT_LENGTH).toWellFormed() || reason
  const summary = `${reason}. The last messages:\n${written
    .slice(-MAX_MESSAGES)
    .map((text) => `> ${text.slice(0, 1_000).toWellFormed()}`)
    .join('\n')}`
  return { tool, input: { subject, summary }, when }
}
