import Type from 'typebox'
import {
  Cursor,
  Exact,
  endpointsOf,
  Limit,
  Nullable,
  Page,
  Success,
} from '../../../platform/http/contract.ts'
import { AnswerSchedule, NewAnswerSchedule } from './schedule/schema.ts'
import {
  AddedAnswerCase,
  AnswerCase,
  AnswerCaseChange,
  AnswerComparison,
  AnswerRun,
  AnswerRunEstimate,
  caseFields,
  JudgeAgreement,
  ListedAnswerRun,
  NewAnswerReview,
  NewAnswerRun,
  ReviewedResult,
} from './schema.ts'

const Id = Type.String({ minLength: 1 })
const agentParams = Exact({ agentId: Id })
const caseParams = Exact({ agentId: Id, caseId: Id })
const runParams = Exact({ agentId: Id, answerRunId: Id })
const pages = Exact({ cursor: Type.Optional(Cursor), limit: Limit })
const endpoint = endpointsOf('Answer tests')
const cases = '/agents/{agentId}/answer-cases'
const runs = '/agents/{agentId}/answer-runs'

export const listAnswerCases = endpoint({
  method: 'GET',
  path: cases,
  name: 'listAnswerCases',
  summary: 'List the conversations that an agent is tested with',
  description: 'Newest first.',
  scope: 'agents:read',
  params: agentParams,
  query: pages,
  success: { status: 200, schema: Page(AnswerCase) },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const createAnswerCase = endpoint({
  method: 'POST',
  path: cases,
  name: 'createAnswerCase',
  summary: 'Add a conversation that an agent is tested with',
  description: 'An agent has at most 500.',
  scope: 'agents:write',
  params: agentParams,
  body: AddedAnswerCase,
  success: { status: 201, schema: AnswerCase },
  errors: ['RESOURCE_NOT_FOUND'],
})

export const readAnswerCase = endpoint({
  method: 'GET',
  path: `${cases}/{caseId}`,
  name: 'readAnswerCase',
  summary: 'Read a conversation that an agent is tested with',
  scope: 'agents:read',
  params: caseParams,
  success: { status: 200, schema: AnswerCase },
  versioned: caseFields,
})

export const updateAnswerCase = endpoint({
  method: 'PUT',
  path: `${cases}/{caseId}`,
  name: 'updateAnswerCase',
  summary: 'Change a conversation that an agent is tested with',
  description: 'Only the fields that are sent change; each replaces the whole field, and null removes it.',
  scope: 'agents:write',
  params: caseParams,
  body: AnswerCaseChange,
  success: { status: 200, schema: AnswerCase },
  changes: readAnswerCase,
})

export const deleteAnswerCase = endpoint({
  method: 'DELETE',
  path: `${cases}/{caseId}`,
  name: 'deleteAnswerCase',
  summary: 'Delete a conversation that an agent is tested with',
  description: 'Results of former runs keep it.',
  scope: 'agents:write',
  params: caseParams,
  success: { status: 200, schema: Success },
})

export const createAnswerRun = endpoint({
  method: 'POST',
  path: runs,
  name: 'createAnswerRun',
  summary: 'Test the answers of an agent',
  description:
    'Asks the cases in the background, with the settings of the agent or those that are sent. No action is run, nothing is charged, and no conversation is kept; the newest 50 runs are. An agent has one run at a time. Where the plan limits credits, a run waits after 300 messages of customers within an hour.',
  scope: 'agents:write',
  params: agentParams,
  body: NewAnswerRun,
  success: { status: 201, schema: ListedAnswerRun },
  errors: ['RESOURCE_NOT_FOUND', 'RESOURCE_DUPLICATE', 'CHAT_MODEL_NOT_ALLOWED'],
})

export const estimateAnswerRun = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/answer-estimate',
  name: 'estimateAnswerRun',
  summary: 'Estimate what a test of the answers to all cases would take',
  description: 'A judge is not part of it.',
  scope: 'agents:read',
  params: agentParams,
  query: Exact({
    repeats: Type.Integer({ minimum: 1, maximum: 10, default: 1 }),
    model: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: "Default: the agent's" })),
  }),
  success: { status: 200, schema: AnswerRunEstimate },
  errors: ['CHAT_MODEL_NOT_ALLOWED'],
})

export const repeatAnswerRun = endpoint({
  method: 'POST',
  path: `${runs}/{answerRunId}/repeat`,
  name: 'repeatAnswerRun',
  summary: 'Test the same cases again, as they were, with the same settings',
  description: 'All cases of the run, or those that are named, also if they were changed or deleted since.',
  scope: 'agents:write',
  params: runParams,
  body: Exact({
    caseIds: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 500 })),
  }),
  success: { status: 201, schema: ListedAnswerRun },
  errors: ['RESOURCE_DUPLICATE', 'CHAT_MODEL_NOT_ALLOWED'],
})

export const listAnswerRuns = endpoint({
  method: 'GET',
  path: runs,
  name: 'listAnswerRuns',
  summary: 'List the tests of answers',
  description: 'Newest first, without the results.',
  scope: 'agents:read',
  params: agentParams,
  query: pages,
  success: { status: 200, schema: Page(ListedAnswerRun) },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const readAnswerRun = endpoint({
  method: 'GET',
  path: `${runs}/{answerRunId}`,
  name: 'readAnswerRun',
  summary: 'Read a test of answers with its results so far',
  scope: 'agents:read',
  params: runParams,
  success: { status: 200, schema: AnswerRun },
})

export const cancelAnswerRun = endpoint({
  method: 'POST',
  path: `${runs}/{answerRunId}/cancel`,
  name: 'cancelAnswerRun',
  summary: 'Stop a test of answers',
  description: 'The results so far stay. A run that has ended does not change.',
  scope: 'agents:write',
  params: runParams,
  success: { status: 200, schema: ListedAnswerRun },
})

export const compareAnswerRuns = endpoint({
  method: 'GET',
  path: `${runs}/{answerRunId}/comparison`,
  name: 'compareAnswerRuns',
  summary: 'Compare a test of answers with an earlier one, case by case',
  scope: 'agents:read',
  params: runParams,
  query: Exact({
    before: Type.Optional(
      Type.String({ minLength: 1, description: 'The id of the earlier run; default: the one before it' }),
    ),
  }),
  success: { status: 200, schema: AnswerComparison },
  errors: ['RESOURCE_NOT_FOUND'],
})

export const reviewAnswer = endpoint({
  method: 'POST',
  path: `${runs}/{answerRunId}/reviews`,
  name: 'reviewAnswer',
  summary: 'Agree or disagree with a judgement of a test',
  description:
    'Says whether a judgement of a result is right, and why not; it replaces what was said before. It does not change whether the test has passed.',
  scope: 'agents:write',
  params: runParams,
  body: NewAnswerReview,
  success: { status: 200, schema: ReviewedResult },
})

export const listAnswerJudges = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/answer-judges',
  name: 'listAnswerJudges',
  summary: 'List the models that have judged answers, and how often people agree with them',
  scope: 'agents:read',
  params: agentParams,
  success: { status: 200, schema: Exact({ data: Type.Array(JudgeAgreement) }) },
})

const schedule = '/agents/{agentId}/answer-schedule'

export const readAnswerSchedule = endpoint({
  method: 'GET',
  path: schedule,
  name: 'readAnswerSchedule',
  summary: 'Read when the answers of an agent are tested',
  scope: 'agents:read',
  params: agentParams,
  success: {
    status: 200,
    schema: Exact({ schedule: Nullable({ ...AnswerSchedule, description: 'null: there is none' }) }),
  },
})

export const setAnswerSchedule = endpoint({
  method: 'PUT',
  path: schedule,
  name: 'setAnswerSchedule',
  summary: 'Test the answers of an agent every day or every week',
  description:
    'Replaces the schedule. The owners of the account are told by mail of a run that falls, and the health of the agent shows it.',
  scope: 'agents:write',
  params: agentParams,
  body: NewAnswerSchedule,
  success: { status: 200, schema: AnswerSchedule },
  errors: ['RESOURCE_NOT_FOUND', 'CHAT_MODEL_NOT_ALLOWED'],
})

export const removeAnswerSchedule = endpoint({
  method: 'DELETE',
  path: schedule,
  name: 'removeAnswerSchedule',
  summary: 'End the schedule of tests',
  description: 'A run that has begun goes on.',
  scope: 'agents:write',
  params: agentParams,
  success: { status: 200, schema: Success },
})
