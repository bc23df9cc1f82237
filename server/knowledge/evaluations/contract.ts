import Type from 'typebox'
import { Cursor, Exact, endpointsOf, Limit, Page, Success } from '../../platform/http/contract.ts'
import {
  Evaluation,
  EvaluationChange,
  EvaluationRun,
  EvaluationSet,
  EvaluationSetChange,
  KeptRun,
  ListedRun,
  NewEvaluation,
  NewKeptRun,
} from './schema.ts'

const endpoint = endpointsOf('Evaluations')

export const listEvaluations = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/evaluations',
  name: 'listEvaluations',
  summary: 'List the evaluation questions of an agent',
  description: 'Newest first.',
  scope: 'sources:read',
  query: Exact({
    cursor: Type.Optional(Cursor),
    limit: Limit,
    setId: Type.Optional(Type.String({ minLength: 1, description: 'Only questions of this set' })),
  }),
  success: { status: 200, schema: Page(Evaluation) },
  errors: ['RESOURCE_NOT_FOUND', 'VALIDATION_INVALID_CURSOR'],
})

export const createEvaluation = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/evaluations',
  name: 'createEvaluation',
  summary: 'Add an evaluation question',
  description:
    'Send the source or the answer that should be found; with neither, the agent should decline the question. An agent has at most 500.',
  scope: 'sources:write',
  body: NewEvaluation,
  success: { status: 201, schema: Evaluation },
})

export const runEvaluations = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/evaluations/run',
  name: 'runEvaluations',
  summary: 'Measure the retrieval of an agent with its evaluation questions',
  description:
    'Searches like a chat, with the reranking model if there is one; no language model is called and no credits are used.',
  scope: 'sources:read',
  success: { status: 200, schema: EvaluationRun },
})

export const updateEvaluation = endpoint({
  method: 'PUT',
  path: '/agents/{agentId}/evaluations/{evaluationId}',
  name: 'updateEvaluation',
  summary: 'Change an evaluation question',
  description: 'Only the fields that are sent change; null removes an expectation.',
  scope: 'sources:write',
  body: EvaluationChange,
  success: { status: 200, schema: Evaluation },
})

export const deleteEvaluation = endpoint({
  method: 'DELETE',
  path: '/agents/{agentId}/evaluations/{evaluationId}',
  name: 'deleteEvaluation',
  summary: 'Delete an evaluation question',
  scope: 'sources:write',
  success: { status: 200, schema: Success },
})

const sets = '/agents/{agentId}/evaluation-sets'

export const listEvaluationSets = endpoint({
  method: 'GET',
  path: sets,
  name: 'listEvaluationSets',
  summary: 'List the sets of evaluation questions',
  description: 'By name.',
  scope: 'sources:read',
  success: { status: 200, schema: Exact({ data: Type.Array(EvaluationSet) }) },
})

export const createEvaluationSet = endpoint({
  method: 'POST',
  path: sets,
  name: 'createEvaluationSet',
  summary: 'Add a set of evaluation questions',
  description: 'An agent has at most 50.',
  scope: 'sources:write',
  body: EvaluationSetChange,
  success: { status: 201, schema: EvaluationSet },
  errors: ['RESOURCE_DUPLICATE'],
})

export const updateEvaluationSet = endpoint({
  method: 'PUT',
  path: `${sets}/{setId}`,
  name: 'updateEvaluationSet',
  summary: 'Rename a set of evaluation questions',
  scope: 'sources:write',
  body: EvaluationSetChange,
  success: { status: 200, schema: EvaluationSet },
  errors: ['RESOURCE_DUPLICATE'],
})

export const deleteEvaluationSet = endpoint({
  method: 'DELETE',
  path: `${sets}/{setId}`,
  name: 'deleteEvaluationSet',
  summary: 'Delete a set of evaluation questions',
  description: 'Its questions and runs stay; the questions are then in no set.',
  scope: 'sources:write',
  success: { status: 200, schema: Success },
})

const runs = '/agents/{agentId}/evaluation-runs'

export const createEvaluationRun = endpoint({
  method: 'POST',
  path: runs,
  name: 'createEvaluationRun',
  summary: 'Measure the retrieval of an agent and store the result',
  description:
    'Works like POST …/evaluations/run. The newest 50 runs are kept, so that two of them can be compared to see the effect of a change.',
  scope: 'sources:write',
  body: NewKeptRun,
  success: { status: 201, schema: KeptRun },
  errors: ['RESOURCE_NOT_FOUND'],
})

export const listEvaluationRuns = endpoint({
  method: 'GET',
  path: runs,
  name: 'listEvaluationRuns',
  summary: 'List the stored evaluation runs',
  description: 'Newest first, without the result of each question.',
  scope: 'sources:read',
  query: Exact({ cursor: Type.Optional(Cursor), limit: Limit }),
  success: { status: 200, schema: Page(ListedRun) },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const readEvaluationRun = endpoint({
  method: 'GET',
  path: `${runs}/{runId}`,
  name: 'readEvaluationRun',
  summary: 'Read a stored evaluation run',
  scope: 'sources:read',
  success: { status: 200, schema: KeptRun },
})
