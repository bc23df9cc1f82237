import Type from 'typebox'
import { Exact, endpoint, Nullable, OneOf, Subset, Success } from '../../platform/http/contract.ts'

const params = Exact({ agentId: Type.String({ minLength: 1 }) })
const tag = 'Agents'

const Sentence = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: '\\S', refusal: 'Must not be blank.' })

const Budget = Exact({
  dollars: Type.Number({
    exclusiveMinimum: 0,
    maximum: 1_000_000,
    description: 'What models may cost in a month (UTC), by the prices of the catalogue',
  }),
  alertShare: Type.Number({
    exclusiveMinimum: 0,
    maximum: 1,
    description:
      'The share of it at which the owners of the account are told, before they are told at all of it',
  }),
  atLimit: OneOf(['tell', 'stop'], {
    description:
      'At the limit: only tell the owners, or also stop calling models, so that the agent answers as it does without credits',
  }),
})

const ForbiddenTopic = Exact({
  topic: { ...Sentence(500), description: 'In your words, such as “legal advice”' },
  say: Nullable({ ...Sentence(1_000), description: 'What the agent says instead; null: its own words' }),
  escalate: Type.Boolean({ description: 'Whether it passes such a conversation to a person, where it can' }),
})

const guardrails = Exact({
  budget: Nullable(Budget),
  forbiddenTopics: Type.Array(ForbiddenTopic, {
    maxItems: 20,
    description:
      'The model is told not to talk about them, and to report it when a customer does. The built-in responder does not know them',
  }),
  ungrounded: OneOf(['mark', 'ask_again', 'hold'], {
    description:
      'What happens to an answer by mail or messaging with values that its model was not given: it is marked for the team; the model is asked once more first; or the team gets it as a note of a ticket, and the customer reads that a person will answer. Answers of the chat and the API are marked',
  }),
})

export const readGuardrails = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/guardrails',
  name: 'readGuardrails',
  versioned: ['budget', 'forbiddenTopics', 'ungrounded'],
  tag,
  summary: 'Read what an agent may spend and say',
  scope: 'agents:read',
  params,
  success: { status: 200, schema: guardrails },
})

export const setGuardrails = endpoint({
  method: 'PUT',
  path: '/agents/{agentId}/guardrails',
  name: 'setGuardrails',
  changes: readGuardrails,
  tag,
  summary: 'Set what an agent may spend and say',
  description: 'What is not sent stays as it is.',
  scope: 'agents:write',
  params,
  body: Subset(guardrails),
  success: { status: 200, schema: Success },
})

export const readSpending = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/spending',
  name: 'readSpending',
  tag,
  summary: 'Read what the language models of an agent have cost this month',
  description:
    'By the prices of the catalogue: answers to customers, what is asked beside them (titles, summaries, the understanding of questions, spam, insights), and embeddings whose price is known. What answers that were stopped cost is estimated. Left out are the answers of the playground and of tests, and their judges. What runs at this moment is not included yet, and what is asked beside answers follows within seconds.',
  scope: 'agents:read',
  params,
  success: {
    status: 200,
    schema: Exact({
      month: Type.String({ description: 'YYYY-MM (UTC)' }),
      dollars: Type.Number({ minimum: 0 }),
      unpricedCalls: Type.Integer({
        minimum: 0,
        description: 'Calls that are not in the dollars, because their price or their tokens are not known',
      }),
      budget: Nullable(Budget),
      state: OneOf(['below', 'alert', 'reached'], {
        description: 'Whether the share of the alert, or all of the budget, is spent; below without a budget',
      }),
    }),
  },
})
