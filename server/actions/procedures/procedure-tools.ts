import type { Db } from '../../platform/db/database.ts'
import type { ProcedureStep } from '../../platform/db/tables/actions.ts'
import { recordOf } from '../../platform/unknown-values.ts'
import { safely } from '../http/safely.ts'
import type { InputCheck } from '../inputs/check-inputs.ts'
import type { Tool } from '../tools/tool.ts'
import { endRun, lastRun, startRun } from './procedure-runs.ts'

export type Procedure = { id: string; name: string; trigger: string; steps: ProcedureStep[] }

export const START = 'start_procedure'
export const FINISH = 'finish_procedure'

type Checks = (schema: Record<string, unknown>) => InputCheck

/** Returns the tools with which the model starts and ends the agent's procedures. */
export function procedureTools(
  db: Db,
  procedures: Procedure[],
  checks: Checks,
  onError: (error: unknown) => void,
): Tool[] {
  const start = objectOf('name', { type: 'string', enum: procedures.map(({ name }) => name) })
  const finish = objectOf('outcome', { type: 'string', enum: ['completed', 'failed'] })
  return [
    {
      name: START,
      type: 'procedure',
      description: 'Starts a procedure when its situation arises, and returns the steps to follow.',
      inputSchema: start,
      refuse: checks(start),
      run: safely(onError, checks(start), async (input, place) => {
        const procedure = procedures.find(({ name }) => name === recordOf(input).name)
        if (!procedure) return { status: 'error', error: 'There is no such procedure.' }
        await startRun(db, place, procedure)
        return { status: 'success', data: { steps: procedure.steps } }
      }),
    },
    {
      name: FINISH,
      type: 'procedure',
      description:
        'Ends the running procedure: completed when its steps are done, failed when they cannot be.',
      inputSchema: finish,
      refuse: checks(finish),
      run: safely(onError, checks(finish), async (input, { accountId, conversationId }) => {
        const outcome = recordOf(input).outcome === 'completed' ? 'completed' : 'failed'
        if (await endRun(db, accountId, conversationId, outcome)) return { status: 'success' }
        // The call was repeated after a fault, and the procedure has already ended.
        const last = await lastRun(db, accountId, conversationId)
        if (last?.status === outcome) return { status: 'success' }
        return { status: 'error', error: 'No procedure is running in this conversation.' }
      }),
    },
  ]
}

/** Returns what the system prompt says about the procedures. */
export const describeProcedures = (procedures: Procedure[]): string =>
  [
    `Procedures of this agent. When the situation of one arises, call ${START} with its name, follow the steps that it returns in their order, and call ${FINISH} at the end.`,
    ...procedures.map(({ name, trigger }) => `- ${oneLine(name)}: ${oneLine(trigger)}`),
  ].join('\n')

/** Returns what a model is told about the procedure that is running. */
export const describeRunning = ({ name, steps }: Procedure): string =>
  [`The procedure "${oneLine(name)}" is running. Its steps:`, ...steps.map(describeStep)].join('\n')

function describeStep({ instruction, action }: ProcedureStep, index: number): string {
  return `${index + 1}. ${oneLine(instruction)}${action === null ? '' : ` (action: ${action})`}`
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

const objectOf = (name: string, property: Record<string, unknown>) => ({
  type: 'object' as const,
  properties: { [name]: property },
  required: [name],
  additionalProperties: false,
})
