import { planOf } from '../../accounts/plans/plans.ts'
import type { Context } from '../../context.ts'
import type { RateWindow } from '../../http/limits/rate-limit.ts'
import { type Route, route } from '../../http/route.ts'
import { countRequest } from '../../http/server/gate.ts'
import type { ResolvedModel } from '../../models/calls/model-call.ts'
import { probeModels } from '../../models/catalogue/probe-models.ts'
import { whatHappened } from '../../models/failures/model-failure.ts'
import * as contract from '../contract.ts'

/** The rate limit of model tests, because providers charge for each. */
const TESTS: RateWindow = { limit: 10, windowMs: 3_600_000 }

const problemOf = (model: ResolvedModel | null): string | null =>
  model?.health.failure ? `${whatHappened(model.health.failure)}.` : null

export const modelRoutes = (ctx: Context): Route[] => [
  route(contract.listModels, async ({ caller: { account } }) => {
    const { entries, auto, embedding, reranker } = ctx.config.catalogue
    const { models } = planOf(account.plan)
    return {
      models: entries.map(({ id, provider, credits, contextTokens }) => ({
        id,
        provider,
        credits,
        contextTokens,
        isAuto: id === auto,
        isInPlan: provider === 'builtin' || models === null || models.includes(id),
        problem: problemOf(ctx.models.resolve(id)),
      })),
      embedding: embedding?.name ?? null,
      reranker: reranker?.name ?? null,
    }
  }),

  route(contract.testModels, { keeps: 'answer' }, async ({ caller: { account }, reply }) => {
    await countRequest(reply, ctx.limiter, `models of ${account.id}`, TESTS)
    // The URLs of the servers are for the operator only (the command `doctor` shows them).
    const catalogue = ctx.config.catalogue
    const findings = await probeModels(catalogue, ctx.models, async () => null, { showAddresses: false })
    return { findings: findings.map(({ what, name, ok, sentence }) => ({ what, name, ok, sentence })) }
  }),
]
