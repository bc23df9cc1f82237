import type { LanguageModelV4Message } from '@ai-sdk/provider'
import { channelNames } from '../../agents/settings/channel-names.ts'
import type { Guardrails } from '../../platform/db/tables/agents.ts'
import type { MessagePart } from '../../platform/db/tables/conversations.ts'
import { type Ungrounded, ungroundedValues } from '../grounding/ungrounded-values.ts'
import { textOf } from '../records/parts.ts'
import type { StepsResult, Turn } from './turn.ts'

/**
 * Returns what becomes of an answer with values that its model was not given. Only on mail and messaging can it be
 * something else than a mark, since there, nobody has read it yet. There, it is held also if an application asked for it.
 */
export function ungroundedRule({ request, started }: Turn): Guardrails['ungrounded'] {
  const { ungrounded } = request.agent.guardrails
  if (request.trial) return 'mark'
  if (channelNames.some(({ settings }) => settings === request.channel)) return ungrounded
  const isSent = channelNames.some(({ source }) => source === started.source)
  return isSent && ungrounded === 'hold' ? 'hold' : 'mark'
}

/** The built-in responder quotes, so that only other models can say what they were not given. */
export const ungroundedOf = (
  { model }: Turn,
  said: readonly MessagePart[],
  { given }: Pick<StepsResult, 'given'>,
): Ungrounded[] =>
  model.entry.provider === 'builtin' ? [] : ungroundedValues(textOf({ parts: said }), given)

/** Asks for the answer once more. It holds the values, so it does not count as given. */
export const askForGrounds = (values: readonly Ungrounded[]): LanguageModelV4Message => ({
  role: 'user',
  content: [
    {
      type: 'text',
      text: `(The customer has not seen this answer, because these of its values stand in nothing that you were given: ${JSON.stringify(values.map(({ text }) => text))}. Write the whole answer once more, in the same language, with nothing but what you were given. Leave out what you do not know, and say so. Do not mention this.)`,
    },
  ],
})
