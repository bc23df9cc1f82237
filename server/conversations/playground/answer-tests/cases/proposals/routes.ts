import type { Context } from '../../../../../context.ts'
import { invalidField } from '../../../../../platform/http/errors.ts'
import { type Route, route } from '../../../../../platform/http/route.ts'
import type { CaseContent } from '../../schema.ts'
import { BadCaseFile, readCases, writeCases } from '../case-files.ts'
import { addCases, casesToRun, presentCase } from '../cases.ts'
import { casesFromSources, proposalCost } from './cases-from-sources.ts'
import * as contract from './contract.ts'
import { proposeFix } from './propose-fix.ts'

type Needs = Pick<Context, 'db' | 'models' | 'limiter' | 'knowledge'>

export const proposalRoutes = (ctx: Needs): Route[] => [
  route(contract.readProposalCost, ({ agent, query }) => proposalCost(ctx, agent, query.count)),

  route(contract.proposeFromSources, { idempotencyMode: 'response' }, ({ agent, body }) =>
    casesFromSources(ctx, agent, body),
  ),

  route(contract.proposeFix, { idempotencyMode: 'response' }, ({ agent, body }) =>
    proposeFix(ctx, agent, body),
  ),

  route(contract.exportCases, async ({ db, ref, query: { format } }) => {
    const rows = await casesToRun(db, ref, undefined)
    const cases = rows.map(({ name, content, conversation_id }) => ({
      name,
      ...(content as CaseContent),
      ...(conversation_id === null ? {} : { conversationId: conversation_id }),
    }))
    return { format, content: writeCases(cases, format) }
  }),

  route(contract.importCases, async ({ db, ref, body: { content, format } }) => {
    const rows = await addCases(db, ref, casesIn(content, format))
    return { added: rows.map(presentCase) }
  }),
]

function casesIn(content: string, format: 'json' | 'csv') {
  try {
    const cases = readCases(content, format)
    if (cases.length > 0) return cases
    throw new BadCaseFile('The file has no case.')
  } catch (error) {
    throw error instanceof BadCaseFile ? invalidField('content', error.message) : error
  }
}
