import Type from 'typebox'
import { channels } from '../../agents/settings/settings-schema.ts'
import { Exact, Nullable, OneOf } from '../../http/contract.ts'

const Milliseconds = Type.Integer({ minimum: 0, description: 'Milliseconds' })

export const Channel = OneOf(channels, {
  description: 'Whose instructions and actions apply; default chat_widget',
})

/** What went into an answer. */
export const MadeOf = Exact({
  channel: OneOf(channels),
  temp: Type.Number(),
  credits: Type.Number({ description: 'What the answer would have cost for a customer' }),
  searchMs: Milliseconds,
  confidence: Type.Number({ description: 'How likely, 0 to 1, the passages hold an answer' }),
  searchedFor: Nullable(Type.String({ description: 'When it is not the question itself' })),
  passages: Type.Array(
    Exact({
      number: Type.Integer({ minimum: 1, description: 'As the prompt numbers it' }),
      sourceId: Type.String(),
      sourceName: Nullable(Type.String()),
      url: Nullable(Type.String()),
      headingPath: Type.Array(Type.String()),
      page: Nullable(Type.Integer()),
      text: Type.String(),
      score: Type.Number({ description: '0 to 1' }),
      isOffered: Type.Boolean({ description: 'Whether the built-in responder would answer from it' }),
    }),
  ),
  steps: Type.Array(
    Exact({
      model: Type.String({ description: 'The model that was asked' }),
      prompt: Type.Array(
        Exact({ role: OneOf(['system', 'user', 'assistant', 'tool']), text: Type.String() }),
        {
          description: 'As the model got it',
        },
      ),
      tools: Type.Array(Type.String(), { description: 'Names of the tools that it could call' }),
      inputTokens: Nullable(Type.Integer({ description: 'null: the provider did not say' })),
      outputTokens: Nullable(Type.Integer({ description: 'null: the provider did not say' })),
      firstMs: Nullable(Type.Integer({ description: 'Milliseconds until its first word' })),
      ms: Milliseconds,
    }),
    { description: 'One for each time the model was asked' },
  ),
})
