import Type from 'typebox'
import { channels } from '../../agents/settings/settings-schema.ts'
import { EmbeddingUse, VectorProblem } from '../../knowledge/search/schema.ts'
import { Exact, Nullable, OneOf } from '../../platform/http/contract.ts'

const Milliseconds = Type.Integer({ minimum: 0, description: 'Milliseconds' })

export const Channel = OneOf(channels, {
  description: 'Whose instructions and actions apply; default chat_widget',
})

export const Version = OneOf(['live', 'draft'], {
  description: 'Which version of the agent answers: the live one (the default), or its draft (`GET …/draft`)',
})

/** Describes how an answer was generated. */
export const MadeOf = Exact({
  channel: Type.String({ description: 'Whose instructions and actions applied' }),
  temp: Type.Number(),
  version: Type.Optional(Version),
  credits: Type.Number({ description: 'What the answer to a customer would have cost' }),
  searchMs: Milliseconds,
  confidence: Type.Number({
    description: 'How much of the question, 0 to 1, by the rarity of its words, the best passages hold',
  }),
  searchedFor: Nullable(Type.String({ description: 'The search query, if it differs from the question' })),
  vectorProblem: Type.Optional(VectorProblem),
  embedding: Type.Optional(Nullable(EmbeddingUse)),
  passages: Type.Array(
    Exact({
      number: Type.Integer({ minimum: 1, description: 'Its number in the prompt' }),
      sourceId: Type.String(),
      sourceName: Nullable(Type.String()),
      url: Nullable(Type.String()),
      headingPath: Type.Array(Type.String()),
      page: Nullable(Type.Integer()),
      text: Type.String({ description: 'Empty where prompts are not kept' }),
      score: Type.Number({ description: '0 to 1' }),
      isOffered: Type.Boolean({ description: 'Whether the built-in responder would answer from it' }),
    }),
  ),
  steps: Type.Array(
    Exact({
      model: Type.String({ description: 'The model that was called' }),
      prompt: Type.Array(
        Exact({ role: OneOf(['system', 'user', 'assistant', 'tool']), text: Type.String() }),
        {
          description: 'The prompt that the model received; empty where prompts are not kept',
        },
      ),
      tools: Type.Array(Type.String(), { description: 'Names of the tools that the model could call' }),
      reasoning: Type.Optional(
        Type.String({ description: 'What the model thought before its answer, which no customer sees' }),
      ),
      inputTokens: Nullable(Type.Integer({ description: 'null: the provider did not report it' })),
      cachedTokens: Type.Optional(
        Nullable(
          Type.Integer({ description: 'Those of inputTokens that came from the cache of the provider' }),
        ),
      ),
      outputTokens: Nullable(Type.Integer({ description: 'null: the provider did not report it' })),
      reasoningTokens: Type.Optional(
        Nullable(Type.Integer({ description: 'Those of outputTokens that were reasoning' })),
      ),
      dollars: Type.Optional(
        Nullable(Type.Number({ description: "By the catalogue's prices; null where they are not known" })),
      ),
      firstMs: Nullable(Type.Integer({ description: 'Milliseconds until its first word' })),
      ms: Milliseconds,
    }),
    { description: 'One entry for each call of the model' },
  ),
})
