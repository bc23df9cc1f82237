import Type from 'typebox'
import { Exact, endpointsOf, Nullable, OneOf } from '../../../../../platform/http/contract.ts'
import { AnswerCase, NewAnswerCase } from '../../schema.ts'

const endpoint = endpointsOf('Answer tests')
const cases = '/agents/{agentId}/answer-cases'

const Cost = Exact({
  model: Nullable(Type.String({ description: 'null: there is no language model' })),
  passages: Type.Integer({ description: 'The passages that questions can be asked about' }),
  calls: Type.Integer({ description: 'One for each passage' }),
  tokens: Type.Integer({ description: 'About as many, read and written' }),
  dollars: Nullable(Type.Number({ description: "By the catalogue's prices; null where they are not known" })),
})

const Count = Type.Integer({ minimum: 1, maximum: 50, description: 'The passages to ask about' })

const Passage = Exact({
  sourceId: Type.String(),
  sourceName: Nullable(Type.String()),
  text: Type.String(),
})

export const readProposalCost = endpoint({
  method: 'GET',
  path: `${cases}/from-sources`,
  name: 'readCaseProposalCost',
  summary: 'Read what proposing cases from the sources costs at most',
  scope: 'agents:read',
  query: Exact({ count: { ...Count, default: 10 } }),
  success: { status: 200, schema: Cost },
})

export const proposeFromSources = endpoint({
  method: 'POST',
  path: `${cases}/from-sources`,
  name: 'proposeCasesFromSources',
  summary: 'Propose cases from the sources',
  description:
    'Stores nothing: show the proposals to a person, who confirms them with `POST /agents/{agentId}/answer-cases`. A model writes one question for each passage, with words that a right answer must hold. Words that do not stand in the passage, or stand in the question, are refused. Passages are taken from all sources in turn, except for those that were made of what customers wrote. Ask for a few at a time, and go on from `next`. Without a language model there are none. An account has 300 calls an hour; nothing is charged.',
  scope: 'agents:write',
  body: Exact({
    from: Type.Integer({
      minimum: 0,
      maximum: 100_000,
      default: 0,
      description: '`next` of the answer before',
    }),
    count: Type.Integer({ minimum: 1, maximum: 10, default: 5, description: 'The passages to ask about' }),
    sourceIds: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        minItems: 1,
        maxItems: 100,
        description: 'Only these sources; default: all',
      }),
    ),
  }),
  success: {
    status: 200,
    schema: Exact({
      proposals: Type.Array(Exact({ case: NewAnswerCase, passage: Passage })),
      asked: Type.Integer({ description: 'The passages that were asked about' }),
      refused: Type.Integer({ description: 'Those for which the model wrote nothing that can be checked' }),
      next: Nullable(Type.Integer({ description: 'Where to go on; null: there are no more passages' })),
    }),
  },
  errors: ['CHAT_PROVIDER_ERROR', 'SOURCE_NOT_FOUND'],
})

const Quote = Exact({
  ...Passage.properties,
  quote: Type.String({ description: 'As it stands in the passage' }),
})

export const proposeFix = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/answer-fixes',
  name: 'proposeAnswerFix',
  summary: 'Propose what would make a bad answer right',
  description:
    'A model reads the question, what was answered, what a right answer says, the instructions of the agent and the passages that its search finds. It proposes a source that is missing, names two sources that contradict each other, or writes an instruction. A quotation that does not stand in its passage, or two from one source, make the proposal `unknown`. Nothing is applied. Without a language model, there are only the passages. What customers wrote is sent to the model: leave out what is personal, as proposals from conversations do. An account has 300 calls an hour; nothing is charged.',
  scope: 'agents:write',
  body: Exact({
    question: Type.String({ minLength: 1, maxLength: 10_000, pattern: '\\S', refusal: 'Must not be blank.' }),
    answer: Type.Optional(Type.String({ maxLength: 20_000, description: 'What the agent answered' })),
    right: Type.Optional(Type.String({ maxLength: 4_000, description: 'What a right answer says' })),
  }),
  success: {
    status: 200,
    schema: Exact({
      kind: OneOf(['source', 'contradiction', 'instruction', 'unknown'], {
        description: 'unknown: nothing was proposed that can be checked',
      }),
      reason: Type.String({ description: 'Why, as the model says; empty where it is unknown' }),
      title: Nullable(Type.String({ description: 'Of the missing source' })),
      text: Nullable(Type.String({ description: 'The text of the missing source, or the instruction' })),
      unknownValues: Type.Array(Type.String(), {
        description: 'Numbers, dates and addresses of `text` that stand in nothing that the model was given',
      }),
      quotes: Type.Array(Quote, { description: 'The two that contradict each other' }),
      passages: Type.Array(Passage, { description: 'What the search finds for the question' }),
    }),
  },
  errors: ['CHAT_PROVIDER_ERROR'],
})

export const exportCases = endpoint({
  method: 'GET',
  path: `${cases}/export`,
  name: 'exportAnswerCases',
  summary: 'Export the cases of an agent',
  description: 'As `POST …/import` and `parley evaluate --answers` read them.',
  scope: 'agents:read',
  query: Exact({ format: OneOf(['json', 'csv'], { default: 'json' }) }),
  success: {
    status: 200,
    schema: Exact({ format: OneOf(['json', 'csv']), content: Type.String() }),
  },
})

export const importCases = endpoint({
  method: 'POST',
  path: `${cases}/import`,
  name: 'importAnswerCases',
  summary: 'Add cases from a file',
  description:
    'Adds all cases or none, at most 500. JSON is a list of cases as they are added one by one. A table is CSV of at most 1 MB and 50 columns; it has a row for each case and the columns `name`, `messages`, `channel`, `holds`, `lacks`, `cites`, `calls`, `declines`, `handsOver`, `reachesGoal`, `means`, `sounds`, `persona`, `goal`, `temper`, `maxMessages`, `results` and `conversationId`, all optional but one of `messages` and `persona` with `goal`. Several messages or texts are lines of one cell, or a list in JSON if one has lines itself. `results` is an object in JSON. A case with the `conversationId` of a conversation that is gone is refused: take the member out if the case has nothing personal.',
  scope: 'agents:write',
  bodyLimit: 12_000_000,
  body: Exact({
    format: OneOf(['json', 'csv']),
    content: Type.String({ minLength: 1, maxLength: 11_000_000 }),
  }),
  success: { status: 201, schema: Exact({ added: Type.Array(AnswerCase) }) },
  errors: ['RESOURCE_NOT_FOUND'],
})
