import { requireAgent } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { type Route, route } from '../../http/route.ts'
import { requireSource } from '../../knowledge/sources/queries.ts'
import { citationsOf } from './citations-of.ts'
import { listSourceCitations } from './contract.ts'

export const citingRoutes = ({ db }: Context): Route[] => [
  route(listSourceCitations, async ({ caller: { account }, params }) => {
    await requireAgent(db, account.id, params.agentId)
    return citationsOf(db, await requireSource(db, account.id, params.agentId, params.sourceId))
  }),
]
