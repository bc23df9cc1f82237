import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { TalkLanguage } from '../../text/talk/talk-words.ts'
import { handoverText } from './phrases/handover-text.ts'

/** The visitor asked for a person and the agent may escalate: this is the call that does it. */
export type Handover = { tool: string; input: { subject: string; summary: string }; language: TalkLanguage }

type Said = { text: string } | { call: Extract<LanguageModelV4StreamPart, { type: 'tool-call' }> }

/** The reply to a visitor who asked for a person: first the call, then, with its result, what follows from it. */
export function handOver({ tool, input, language }: Handover, { prompt }: LanguageModelV4CallOptions): Said {
  const last = prompt.at(-1)
  const result = last?.role === 'tool' ? last.content.find((part) => part.type === 'tool-result') : undefined
  if (result?.type === 'tool-result') {
    const output = result.output.type === 'json' ? result.output.value : null
    return { text: handoverText(language, output) }
  }
  const call = {
    type: 'tool-call',
    toolCallId: 'handover',
    toolName: tool,
    input: JSON.stringify(input),
  } as const
  return { call }
}
