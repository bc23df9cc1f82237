import type { Handover } from '../../models/builtin/hand-over.ts'
import { languageOfRequest, offersPerson } from '../../text/people/asks-for-person.ts'
import { textOf } from '../records/parts.ts'
import type { Said } from './history.ts'

const LONGEST_SUBJECT = 120
const MOST_MESSAGES = 5

/** The call of the action that escalates, when the newest message asks for a person; null when it does not. */
export function handoverAsked(transcript: readonly Said[], tool: string): Handover | null {
  const asked = transcript.findLastIndex(({ role }) => role === 'user')
  const message = transcript[asked]
  if (!message) return null
  const before = transcript.slice(0, asked).findLast(({ role }) => role === 'assistant')
  const offered = before !== undefined && offersPerson(textOf(before))
  const language = languageOfRequest(textOf(message), { offered })
  if (language === null) return null
  const written = transcript.filter(({ role }) => role === 'user').map((said) => textOf(said).trim())
  // What it is about was mostly said before the person was asked for.
  const about = written.at(-2) ?? written.at(-1) ?? ''
  const subject =
    about.replace(/\s+/g, ' ').slice(0, LONGEST_SUBJECT).toWellFormed() || 'A person was asked for'
  const summary = `A person was asked for. The last messages:\n${written
    .slice(-MOST_MESSAGES)
    .map((text) => `> ${text.slice(0, 1_000).toWellFormed()}`)
    .join('\n')}`
  return { tool, input: { subject, summary }, language }
}
