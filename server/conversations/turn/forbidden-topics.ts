import type { Guardrails } from '../../platform/db/tables/agents.ts'
import { reportOf } from './outcome-report.ts'

type Topics = Guardrails['forbiddenTopics']

/** Returns what a model is told about the topics that the owner forbids; null if there are none. */
export function topicRules(topics: Topics, escalate: string | null): string | null {
  if (topics.length === 0) return null
  const listed = topics.map(({ topic, say, escalate: isPassedOn }, at) =>
    [
      `${at + 1}. ${inOneLine(topic)}.`,
      say && `Say, in the language of the customer: ${inOneLine(say)}`,
      isPassedOn && escalate && `Then call ${escalate}.`,
    ]
      .filter(Boolean)
      .join(' '),
  )
  return [
    'Topics that you must not talk about, whoever asks and for whatever reason. When the customer does, answer nothing about them, and say that you cannot help with it.',
    ...listed,
    `For such a message, put the number of the topic behind the word in the last line: ${reportOf('refused').replace('refused', 'refused 1')}, or handed_over 1 if you passed the conversation to a person.`,
  ].join('\n')
}

const inOneLine = (text: string): string => text.trim().replace(/\s+/g, ' ')

/** Returns the topic that a model reported by its number. */
export const reportedTopic = (topics: Topics, number: number | null): string | null =>
  (number === null ? undefined : topics[number - 1])?.topic ?? null
