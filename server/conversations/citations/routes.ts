import type { Context } from '../../context.ts'
import { requireSource } from '../../knowledge/sources/queries.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { citationsOf } from './citations-of.ts'
import { listSourceCitations } from './contract.ts'

export const citingRoutes = ({ db }: Pick<Context, 'db'>): Route[] => [
  route(listSourceCitations, async ({ ref }) => citationsOf(db, await requireSource(db, ref))),
]
