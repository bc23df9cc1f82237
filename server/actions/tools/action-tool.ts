import type { JSONSchema7 } from '@ai-sdk/provider'
import type { Selectable } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import type { ActionsTable } from '../../platform/db/tables/actions.ts'
import type { GuardedFetcher } from '../../platform/fetch/guard/guarded-fetcher.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import { recordOf } from '../../platform/unknown-values.ts'
import { collectLead, type LeadInput, refuseLead } from '../builtin/collect-lead.ts'
import { type EscalateInput, escalate, type OpenTicket, type WhoIsThere } from '../builtin/escalate.ts'
import { searchWeb } from '../builtin/search-web.ts'
import { fixedInputs } from '../definitions/fixed-inputs.ts'
import { runHttp } from '../http/run-http.ts'
import { safely } from '../http/safely.ts'
import type { InputCheck } from '../inputs/check-inputs.ts'
import type { Tool } from './tool.ts'
import { ToolProblem } from './tool-problem.ts'

export type ToolDeps = {
  db: Db
  fetcher: Pick<GuardedFetcher, 'fetch'>
  secrets: Pick<Secrets, 'decrypt'>
  /** The operator's search service; null: there is none. */
  search: string | null
  openTicket: OpenTicket
  onlineMembers: WhoIsThere
  onError: (error: unknown) => void
}

type Row = Pick<Selectable<ActionsTable>, 'id' | 'name' | 'type' | 'description' | 'inputs' | 'http'>
type Run = NonNullable<Tool['run']>

/** Returns the tool of an action; null where this installation cannot run it. */
export function actionTool(
  deps: ToolDeps,
  row: Row,
  checks: (schema: Record<string, unknown>) => InputCheck,
): Tool | null {
  if (row.type === 'web-search' && deps.search === null) return null
  const inputs = fixedInputs(row.type) ?? row.inputs
  const check = guard(checks(inputs))
  const refuse: InputCheck =
    row.type === 'collect-leads' ? (input) => check(input) ?? refuseLead(input as LeadInput) : check
  const run = runnerOf(deps, row, inputs)
  return {
    name: row.name,
    type: row.type,
    description: row.description,
    inputSchema: inputs as JSONSchema7,
    refuse,
    run: run && safely(deps.onError, refuse, run),
  }
}

function runnerOf(deps: ToolDeps, { id, type, http }: Row, inputs: Record<string, unknown>): Run | null {
  switch (type) {
    case 'client':
      return null
    case 'http':
      return async (input, { signal }) => {
        if (!http) throw new Error('An http action has no request.')
        return runHttp(deps, { id, http }, inputs, recordOf(input), signal)
      }
    case 'collect-leads':
      return (input, place) => collectLead(deps.db, input as LeadInput, place)
    case 'escalate':
      return (input, place) => escalate(deps.db, deps, input as EscalateInput, place)
    case 'web-search':
      return (input, { signal }) => searchWeb(deps.search ?? '', (input as { query: string }).query, signal)
  }
}

/** A schema that cannot be applied to the input (because it is too deep, for example) rejects it. */
const guard =
  (check: InputCheck): InputCheck =>
  (input) => {
    try {
      return check(input)
    } catch (error) {
      return error instanceof ToolProblem ? error.message : 'The inputs could not be checked.'
    }
  }
