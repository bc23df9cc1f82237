import Type from 'typebox'
import { Cursor, Exact, endpoint, Limit, Page, Success } from '../../http/contract.ts'
import { Evaluation, EvaluationChange, EvaluationRun, NewEvaluation } from './schema.ts'

const Id = Type.String({ minLength: 1 })
const agentParams = Exact({ agentId: Id })
const itemParams = Exact({ agentId: Id, evaluationId: Id })
const tag = 'Evaluations'

export const listEvaluations = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/evaluations',
  name: 'listEvaluations',
  tag,
  summary: 'List the evaluation questions of an agent',
  description: 'Newest first.',
  scope: 'sources:read',
  params: agentParams,
  query: Exact({ cursor: Type.Optional(Cursor), limit: Limit }),
  success: { status: 200, schema: Page(Evaluation) },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const createEvaluation = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/evaluations',
  name: 'createEvaluation',
  tag,
  summary: 'Add an evaluation question',
  description:
    'With the source or the answer that should be found; with neither, the question is one to be declined. At most 500 an agent.',
  scope: 'sources:write',
  params: agentParams,
  body: NewEvaluation,
  success: { status: 201, schema: Evaluation },
})

export const runEvaluations = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/evaluations/run',
  name: 'runEvaluations',
  tag,
  summary: 'Measure the retrieval of an agent with its evaluation questions',
  description: 'Searches as a chat does; no model is called and no credits are used.',
  scope: 'sources:read',
  params: agentParams,
  success: { status: 200, schema: EvaluationRun },
})

export const updateEvaluation = endpoint({
  method: 'PUT',
  path: '/agents/{agentId}/evaluations/{evaluationId}',
  name: 'updateEvaluation',
  tag,
  summary: 'Change an evaluation question',
  description: 'The sent fields; null takes an expectation back.',
  scope: 'sources:write',
  params: itemParams,
  body: EvaluationChange,
  success: { status: 200, schema: Evaluation },
})

export const deleteEvaluation = endpoint({
  method: 'DELETE',
  path: '/agents/{agentId}/evaluations/{evaluationId}',
  name: 'deleteEvaluation',
  tag,
  summary: 'Delete an evaluation question',
  scope: 'sources:write',
  params: itemParams,
  success: { status: 200, schema: Success },
})
