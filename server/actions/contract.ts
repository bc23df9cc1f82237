import Type from 'typebox'
import { Cursor, Exact, endpoint, Limit, Page, Success } from '../platform/http/contract.ts'
import { Action, CreateAction, UpdateAction } from './definitions/action-schema.ts'
import { CreateProcedure, Procedure, UpdateProcedure } from './procedures/procedure-schema.ts'

const Id = Type.String({ minLength: 1 })
const agentParams = Exact({ agentId: Id })
const actionParams = Exact({ agentId: Id, actionId: Id })
const procedureParams = Exact({ agentId: Id, procedureId: Id })
const listQuery = Exact({ cursor: Type.Optional(Cursor), limit: Limit })

const actions = { path: '/agents/{agentId}/actions', tag: 'Actions' } as const
const action = { path: '/agents/{agentId}/actions/{actionId}', tag: 'Actions', params: actionParams } as const
const procedures = { path: '/agents/{agentId}/procedures', tag: 'Procedures' } as const
const procedure = {
  path: '/agents/{agentId}/procedures/{procedureId}',
  tag: 'Procedures',
  params: procedureParams,
} as const

export const listActions = endpoint({
  ...actions,
  method: 'GET',
  name: 'listActions',
  summary: 'List the actions of an agent',
  description: 'Newest first.',
  scope: 'actions:read',
  params: agentParams,
  query: listQuery,
  success: { status: 200, schema: Page(Action) },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const createAction = endpoint({
  ...actions,
  method: 'POST',
  name: 'createAction',
  summary: 'Add an action',
  description:
    '`client` runs in the calling application, `http` sends a request, the other types are built in and have fixed inputs. `http` belongs to the type http only.',
  scope: 'actions:write',
  params: agentParams,
  body: CreateAction,
  success: { status: 201, schema: Action },
})

export const readAction = endpoint({
  ...action,
  method: 'GET',
  name: 'readAction',
  summary: 'Read an action',
  description: 'Values of headers are never returned.',
  scope: 'actions:read',
  success: { status: 200, schema: Action },
})

export const updateAction = endpoint({
  ...action,
  method: 'PUT',
  name: 'updateAction',
  summary: 'Change an action',
  description:
    'An omitted field stays as it is, in `http` too; `headers` is replaced as a whole, and null keeps a stored value. Renaming or disabling an action disables the procedures that name it.',
  scope: 'actions:write',
  body: UpdateAction,
  success: { status: 200, schema: Action },
})

export const deleteAction = endpoint({
  ...action,
  method: 'DELETE',
  name: 'deleteAction',
  summary: 'Delete an action',
  description: 'Procedures that name it are disabled.',
  scope: 'actions:write',
  success: { status: 200, schema: Success },
})

export const listProcedures = endpoint({
  ...procedures,
  method: 'GET',
  name: 'listProcedures',
  summary: 'List the procedures of an agent',
  description: 'Newest first.',
  scope: 'actions:read',
  params: agentParams,
  query: listQuery,
  success: { status: 200, schema: Page(Procedure) },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const createProcedure = endpoint({
  ...procedures,
  method: 'POST',
  name: 'createProcedure',
  summary: 'Add a procedure',
  description: 'It is created disabled. The plan must include procedures.',
  scope: 'actions:write',
  params: agentParams,
  body: CreateProcedure,
  success: { status: 201, schema: Procedure },
  errors: ['PLAN_FEATURE_NOT_AVAILABLE'],
})

export const readProcedure = endpoint({
  ...procedure,
  method: 'GET',
  name: 'readProcedure',
  summary: 'Read a procedure',
  scope: 'actions:read',
  success: { status: 200, schema: Procedure },
})

export const updateProcedure = endpoint({
  ...procedure,
  method: 'PUT',
  name: 'updateProcedure',
  summary: 'Change or enable a procedure',
  description:
    'An omitted field stays as it is. To enable it, every action it names must exist and be enabled, and the plan must include procedures.',
  scope: 'actions:write',
  body: UpdateProcedure,
  success: { status: 200, schema: Procedure },
  errors: ['PLAN_FEATURE_NOT_AVAILABLE'],
})

export const deleteProcedure = endpoint({
  ...procedure,
  method: 'DELETE',
  name: 'deleteProcedure',
  summary: 'Delete a procedure',
  scope: 'actions:write',
  success: { status: 200, schema: Success },
})

export const testAction = endpoint({
  ...action,
  method: 'POST',
  path: `${action.path}/test`,
  name: 'testAction',
  summary: 'Run an action with an input',
  description:
    'An http action sends its request, and a web search is carried out. For all other types only the input is checked: no ticket is opened, no lead is stored, and client actions are run by the application.',
  scope: 'actions:write',
  body: Exact({
    input: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description: 'As a model would send it: the inputs of the action by name',
    }),
  }),
  success: {
    status: 200,
    schema: Exact({
      data: Exact({
        hasRun: Type.Boolean(),
        output: Type.Unknown({ description: 'What the model would read' }),
        ms: Type.Integer({ minimum: 0, description: 'Milliseconds' }),
      }),
    }),
  },
})
