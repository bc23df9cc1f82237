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
  reachesGoal: Type.Optional(
    Type.Boolean({
      description: 'Whether the `customer` gets what they want; needs a run with `judges`',
    }),
  ),
  means: Type.Optional(Text(4_000, 'What a right answer says; needs a run with `judges`')),
  sounds: Type.Optional(Text(500, 'How the answer sounds; needs a run with `judges`')),
})

export const SimulatedCustomer = Exact(
  {
    persona: Text(2_000, 'Who the customer is'),
    goal: Text(2_000, 'What the customer wants'),
    temper: Type.Optional(Text(500, 'How the customer behaves')),
    maxMessages: Type.Integer({
      minimum: 1,
      maximum: 10,
      default: 6,
      description: 'The most messages, with those of `messages`',
    }),
  },
  {
    description:
      'A customer whom a model plays after `messages`, until content, gone, or at the limit. What is expected then holds for the whole conversation.',
  },
)

const Results = Type.Record(Type.String({ maxLength: 200 }), Type.Unknown(), {
  maxProperties: 50,
  description:
    'What actions return, by their names. No action is run in a test: one without a result here returns an error.',
})

export const NewAnswerCase = Exact({
  name: Text(200, 'Shown in runs'),
  messages: Type.Array(Text(10_000, 'What the customer writes'), {
    maxItems: 10,
    description:
      'One for each turn; the last answer is checked, and the calls of all. May be empty with a `customer`.',
  }),
  customer: Type.Optional(SimulatedCustomer),
  channel: Type.Optional(Channel),
  results: Type.Optional(Results),
  expect: { ...Expectations, description: 'With none, any answer passes' },
})

/** The fields of a case that can be changed. */
export const caseFields = Object.keys(NewAnswerCase.properties)

const Origin = Nullable(
  Type.String({
    description: 'The conversation that it was made of. The case is deleted with it; null: of none',
  }),
)

export const AddedAnswerCase = Exact({
  ...NewAnswerCase.properties,
  conversationId: Type.Optional(Origin),
})

export const AnswerCaseChange = Subset(
  Exact({
    ...NewAnswerCase.properties,
    customer: Nullable({ ...SimulatedCustomer, description: 'null: nobody is played' }),
    channel: Nullable(Channel),
    results: Nullable(Results),
  }),
)

export const AnswerCase = Exact({
  id: Type.String(),
  ...NewAnswerCase.properties,
  conversationId: Origin,
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
    description:
      'Whether a model judges the answers that no check in code has failed: claim by claim against all that the agent was given, and by `means` and `sounds`',
  }),
  maxCredits: Type.Optional(
    Type.Integer({ minimum: 1, description: 'The run stops before its answers would have cost more' }),
  ),
  maxDollars: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1_000_000,
      description:
        'The run stops before another test, at the average price of those so far, would cost more money, and after a call whose price is not known. Only for models whose prices the catalogue has.',
    }),
  ),
  note: Type.String({ maxLength: 200, default: '', description: 'What is tried' }),
  version: Type.Optional(Version),
  instructions: Type.Optional(Type.String({ maxLength: 50_000, description: "Instead of the agent's" })),
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: "Instead of the agent's" })),
  temp: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: "Instead of the agent's" })),
})

export const AnswerCheck = Exact({
  kind: OneOf(
    [
      'holds',
      'lacks',
      'cites',
      'calls',
      'declines',
      'handsOver',
      'reachesGoal',
      'faithful',
      'means',
      'sounds',
    ],
    {
      description:
        'reachesGoal, faithful, means and sounds are judged by a model, the others are checked in code',
    },
  ),
  expected: Type.Union([Type.String(), Type.Boolean()]),
  passed: Nullable(Type.Boolean({ description: 'null: nobody could tell' })),
  reason: Nullable(Type.String({ description: "The judge's reason, or why nobody could tell" })),
})

const Piece = Exact({
  kind: OneOf(['passage', 'result', 'customer', 'instructions']),
  name: Nullable(Type.String({ description: 'The name of the source of a passage' })),
  text: Type.String(),
})

export const AnswerClaim = Exact({
  claim: Type.String(),
  verdict: OneOf(['supported', 'contradicted', 'absent', 'unclear'], {
    description:
      'Of what the agent was given, a piece says the same, says otherwise, or none says anything; unclear: the judge names no piece that decides',
  }),
  piece: Nullable({ ...Piece, description: 'The piece that decides, shortened' }),
  reason: Type.String(),
})

const Tokens = Nullable(Type.Integer({ description: 'null: the provider did not report it' }))

const Dollars = Nullable(
  Type.Number({ description: "By the catalogue's prices; null where they are not known" }),
)

export const AnswerJudgement = Exact({
  model: Type.String({ description: 'The model that judged' }),
  problem: Nullable(
    Type.String({
      description: 'Why the judge has judged nothing; its checks are then neither passed nor failed',
    }),
  ),
  claims: Type.Array(AnswerClaim),
  inputTokens: Tokens,
  outputTokens: Tokens,
  dollars: Dollars,
})

/** What a member of the team says about one thing that the judge, or a check, has said. */
export const NewAnswerReview = Exact({
  caseId: Type.String({ minLength: 1 }),
  repetition: Type.Integer({ minimum: 1, maximum: 10 }),
  judgement: Type.String({
    minLength: 1,
    maxLength: 20,
    description:
      'What it is about: the judgement `faithful`, `means` or `sounds`, a claim, such as `claim-1` for the first, or `answer` for whether the test has passed',
  }),
  agrees: Nullable(Type.Boolean({ description: 'null takes the review back' })),
  note: Type.String({ maxLength: 2_000, default: '', description: 'Why' }),
})

const AnswerReview = Exact({
  judgement: NewAnswerReview.properties.judgement,
  agrees: Type.Boolean(),
  note: Type.String(),
  reviewer: Type.String({ description: 'The name of the member or of the API key' }),
  createdAt: IsoTime,
})

export const JudgeAgreement = Exact({
  model: Type.String({ description: 'The model that judged' }),
  judged: Type.Integer({ description: 'How many judgements it has made in the runs that are kept' }),
  failed: Type.Integer({ description: 'How many answers it could not judge' }),
  reviewed: Type.Integer({ description: 'How many of its judgements people have reviewed' }),
  agreed: Type.Integer({ description: 'With how many of these they agree' }),
  share: Nullable(Type.Number({ minimum: 0, maximum: 1, description: 'null: none was reviewed' })),
})

export const AnswerResult = Exact({
  caseId: Type.String(),
  name: Type.String(),
  repetition: Type.Integer({ minimum: 1 }),
  passed: Nullable(
    Type.Boolean({
      description: 'Whether every check passed; null: none failed, but nobody could tell about one',
    }),
  ),
  checks: Type.Array(AnswerCheck),
  messages: Type.Array(Exact({ role: OneOf(['user', 'assistant']), text: Type.String() })),
  calls: Type.Array(Exact({ name: Type.String(), input: Type.Unknown() })),
  sources: Type.Array(Exact({ id: Type.String(), name: Nullable(Type.String()) }), {
    description: 'The sources that the last answer cites',
  }),
  outcome: Nullable(Type.String({ description: 'As the model reported it' })),
  ending: Type.Optional(
    OneOf(['content', 'gone', 'limit'], { description: 'How the conversation with a `customer` ended' }),
  ),
  model: Nullable(Type.String({ description: 'The model that answered last' })),
  credits: Type.Number({ description: 'What the answers would have cost a customer' }),
  inputTokens: Tokens,
  outputTokens: Tokens,
  dollars: Dollars,
  firstMs: Nullable(Type.Integer({ description: 'Milliseconds until the first word of the last answer' })),
  ms: Type.Integer({ description: 'Milliseconds of the whole test' }),
  spentDollars: Type.Optional(
    Type.Number({
      description:
        'What all calls of the test have cost, as far as it is known: answers, judges, and the model that plays the customer',
    }),
  ),
  isUnpriced: Type.Optional(
    Type.Boolean({ description: 'Whether it is not known what one of these calls has cost' }),
  ),
  error: Nullable(Type.String({ description: 'Why there is no answer' })),
  judgement: Nullable({ ...AnswerJudgement, description: 'null: no model judged it' }),
})

export const ReviewedResult = Exact({ ...AnswerResult.properties, reviews: Type.Array(AnswerReview) })

const run = {
  id: Type.String(),
  status: OneOf(['running', 'finished', 'canceled', 'stopped'], {
    description: 'stopped: a limit was reached, or a test could not be run; see `problem`',
  }),
  problem: Nullable(Type.String({ description: 'Why it was stopped' })),
  isScheduled: Type.Boolean({ description: 'Whether the schedule of the agent has started it' }),
  ...NewAnswerRun.properties,
  total: Type.Integer({ description: 'The number of tests: cases times `repeats`' }),
  done: Type.Integer(),
  passed: Type.Integer(),
  failed: Type.Integer({ description: 'Neither passed nor failed are those about which nobody could tell' }),
  expectedCredits: Type.Number({ description: 'What all answers would cost a customer with this model' }),
  credits: Type.Number({ description: 'What the answers so far would have cost; none is charged' }),
  dollars: Nullable(
    Type.Number({
      description:
        "What all calls have cost so far by the catalogue's prices; null where a price is not known",
    }),
  ),
  createdAt: IsoTime,
  finishedAt: Nullable(IsoTime),
}

export const ListedAnswerRun = Exact(run)
export const AnswerRun = Exact({ ...run, results: Type.Array(ReviewedResult) })

export const AnswerRunEstimate = Exact({
  model: Type.String({ description: 'The model that will answer' }),
  tests: Type.Integer({ description: 'Cases times `repeats`' }),
  messages: Type.Integer({ description: 'How often the agent will answer' }),
  credits: Type.Number({ description: 'What the answers would cost a customer; none is charged' }),
  dollars: Nullable(
    Type.Number({
      description:
        "By the tokens of earlier tests of the agent and the catalogue's prices; null before the first one, or without a price",
    }),
  ),
})

const Share = Type.Number({ minimum: 0, maximum: 1, description: 'The share of its repetitions that passed' })
const Mean = Nullable(
  Type.Number({ description: 'The mean of its repetitions; null where one is not known' }),
)

const Side = Exact({
  passed: Share,
  firstMs: Mean,
  ms: Mean,
  inputTokens: Mean,
  outputTokens: Mean,
  dollars: Mean,
})

export const AnswerComparison = Exact({
  cases: Type.Array(
    Exact({
      caseId: Type.String(),
      name: Type.String(),
      before: Share,
      after: Share,
      figures: Exact({ before: Side, after: Side }),
    }),
    { description: 'The cases that both runs have asked' },
  ),
  figures: Exact({ before: Side, after: Side }),
  better: Type.Integer(),
  worse: Type.Integer(),
  same: Type.Integer(),
  chance: Type.Number({
    description:
      'How likely a difference at least this large is by chance alone (two-sided sign test), from 0 to 1',
  }),
  conclusion: Type.String({ description: 'The same in words' }),
})

/** The answers of one test: as many as the customer may write messages. */
export const answersOf = ({ messages, customer }: Pick<CaseContent, 'messages' | 'customer'>): number =>
  customer ? customer.maxMessages : messages.length

export type CaseContent = Omit<Static<typeof NewAnswerCase>, 'name'>
/** A case as it was when its run began. */
export type CaseOfRun = { id: string; name: string; conversationId?: string } & CaseContent
export type RunSettings = Omit<Static<typeof NewAnswerRun>, 'caseIds'> & {
  /** The version of the agent that is tested, while it is tested. */
  snapshot?: AgentSnapshot | null
}
export type Result = Static<typeof AnswerResult>
export type Check = Static<typeof AnswerCheck>
export type Claim = Static<typeof AnswerClaim>
export type Judgement = Static<typeof AnswerJudgement>
export type Piece = Static<typeof Piece>
export type Review = Static<typeof AnswerReview>
