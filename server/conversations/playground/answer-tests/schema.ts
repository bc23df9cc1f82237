import Type, { type Static } from 'typebox'
import type { AgentSnapshot } from '../../../platform/db/tables/agents.ts'
import { Exact, IsoTime, Nullable, OneOf, Subset } from '../../../platform/http/contract.ts'
import { Channel, Version } from '../schema.ts'

const Text = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: '\\S', refusal: 'Must not be blank.', description })
const Texts = (description: string) => Type.Array(Text(1_000, description), { minItems: 1, maxItems: 20 })

export const Expectations = Exact({
  holds: Type.Optional(Texts('Stands in the answer, whatever its case and spacing')),
  lacks: Type.Optional(Texts('Does not stand in the answer')),
  cites: Type.Optional(Texts('The id of a source that the answer cites')),
  calls: Type.Optional(Texts('The name of an action that is called')),
  declines: Type.Optional(
    Type.Boolean({ description: 'Whether the answer says that the documents do not hold it' }),
  ),
  handsOver: Type.Optional(Type.Boolean({ description: 'Whether the conversation is passed to a person' })),
  means: Type.Optional(Text(4_000, 'What a right answer says; needs a run with `judges`')),
  sounds: Type.Optional(Text(500, 'How the answer sounds; needs a run with `judges`')),
})

export const NewAnswerCase = Exact({
  name: Text(200, 'Shown in runs'),
  messages: Type.Array(Text(10_000, 'What the customer writes'), {
    minItems: 1,
    maxItems: 10,
    description: 'One for each turn; the last answer is checked, and the calls of all',
  }),
  channel: Type.Optional(Channel),
  results: Type.Optional(
    Type.Record(Type.String({ maxLength: 200 }), Type.Unknown(), {
      maxProperties: 50,
      description:
        'What actions return, by their names. No action is run in a test: one without a result here returns an error.',
    }),
  ),
  expect: { ...Expectations, description: 'With none, any answer passes' },
})

export const AnswerCaseChange = Subset(NewAnswerCase)

export const AnswerCase = Exact({
  id: Type.String(),
  ...NewAnswerCase.properties,
  createdAt: IsoTime,
  updatedAt: IsoTime,
})

export const NewAnswerRun = Exact({
  caseIds: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 500, description: 'Default: all' }),
  ),
  repeats: Type.Integer({ minimum: 1, maximum: 10, default: 1, description: 'How often each case is asked' }),
  judges: Type.Boolean({
    default: false,
    description: 'Whether a model judges what code cannot check: `means` and `sounds`',
  }),
  maxCredits: Type.Optional(
    Type.Integer({ minimum: 1, description: 'The run stops before its answers would have cost more' }),
  ),
  note: Type.String({ maxLength: 200, default: '', description: 'What is tried' }),
  version: Type.Optional(Version),
  instructions: Type.Optional(Type.String({ maxLength: 50_000, description: "Instead of the agent's" })),
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: "Instead of the agent's" })),
  temp: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: "Instead of the agent's" })),
})

export const AnswerCheck = Exact({
  kind: OneOf(['holds', 'lacks', 'cites', 'calls', 'declines', 'handsOver', 'means', 'sounds']),
  expected: Type.Union([Type.String(), Type.Boolean()]),
  passed: Nullable(Type.Boolean({ description: 'null: nobody could tell' })),
  reason: Nullable(Type.String({ description: "The judge's reason, or why nobody could tell" })),
})

const Tokens = Nullable(Type.Integer({ description: 'null: the provider did not report it' }))

export const AnswerResult = Exact({
  caseId: Type.String(),
  name: Type.String(),
  repetition: Type.Integer({ minimum: 1 }),
  passed: Type.Boolean({ description: 'Whether every check passed' }),
  checks: Type.Array(AnswerCheck),
  messages: Type.Array(Exact({ role: OneOf(['user', 'assistant']), text: Type.String() })),
  calls: Type.Array(Exact({ name: Type.String(), input: Type.Unknown() })),
  sources: Type.Array(Exact({ id: Type.String(), name: Nullable(Type.String()) }), {
    description: 'The sources that the last answer cites',
  }),
  outcome: Nullable(Type.String({ description: 'As the model reported it' })),
  model: Nullable(Type.String({ description: 'The model that answered last' })),
  credits: Type.Number({ description: 'What the answers would have cost a customer' }),
  inputTokens: Tokens,
  outputTokens: Tokens,
  dollars: Nullable(Type.Number({ description: "By the catalogue's prices; null where they are not known" })),
  firstMs: Nullable(Type.Integer({ description: 'Milliseconds until the first word of the last answer' })),
  ms: Type.Integer({ description: 'Milliseconds of the whole test' }),
  error: Nullable(Type.String({ description: 'Why there is no answer' })),
})

const run = {
  id: Type.String(),
  status: OneOf(['running', 'finished', 'canceled', 'stopped'], {
    description: 'stopped: `maxCredits` was reached, or a test could not be run',
  }),
  ...NewAnswerRun.properties,
  total: Type.Integer({ description: 'The number of tests: cases times `repeats`' }),
  done: Type.Integer(),
  passed: Type.Integer(),
  expectedCredits: Type.Number({ description: 'What all answers would cost a customer with this model' }),
  credits: Type.Number({ description: 'What the answers so far would have cost; none is charged' }),
  createdAt: IsoTime,
  finishedAt: Nullable(IsoTime),
}

export const ListedAnswerRun = Exact(run)
export const AnswerRun = Exact({ ...run, results: Type.Array(AnswerResult) })

const Share = Type.Number({ minimum: 0, maximum: 1, description: 'The share of its repetitions that passed' })

export const AnswerComparison = Exact({
  cases: Type.Array(Exact({ caseId: Type.String(), name: Type.String(), before: Share, after: Share }), {
    description: 'The cases that both runs have finished',
  }),
  better: Type.Integer(),
  worse: Type.Integer(),
  same: Type.Integer(),
  chance: Type.Number({
    description:
      'How likely a difference at least this large is by chance alone (two-sided sign test), from 0 to 1',
  }),
})

export type CaseContent = Omit<Static<typeof NewAnswerCase>, 'name'>
/** A case as it was when its run began. */
export type CaseOfRun = { id: string; name: string } & CaseContent
export type RunSettings = Omit<Static<typeof NewAnswerRun>, 'caseIds'> & {
  /** The version of the agent that is tested, while it is tested. */
  snapshot?: AgentSnapshot | null
}
export type Result = Static<typeof AnswerResult>
export type Check = Static<typeof AnswerCheck>
