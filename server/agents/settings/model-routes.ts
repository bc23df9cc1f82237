import { planOf } from '../../accounts/plans/plans.ts'
import type { Context } from '../../context.ts'
import { lackOfPgvector } from '../../db/upkeep/pgvector.ts'
import type { RateWindow } from '../../http/limits/rate-limit.ts'
import { type Route, route } from '../../http/route.ts'
import { countRequest } from '../../http/server/gate.ts'
import { probeModels } from '../../models/catalogue/probe-models.ts'
import * as contract from '../contract.ts'

/** The rate limit of model tests, because providers charge for each. */
const TESTS: RateWindow = { limit: 10, windowMs: 3_600_000 }

export const modelRoutes = (ctx: Context): Route[] => [
  route(contract.listModels, async ({ caller: { account } }) => {
    const { entries, auto, embedding, reranker } = ctx.config.catalogue
    const { models } = planOf(account.plan)
    const failureOf = await ctx.knownFailures.read()
    const lack = embedding && (await lackOfPgvector(ctx.db))
    return {
      models: entries.map(({ id, provider, credits, contextTokens }) => ({
        id,
        provider,
        credits,
        contextTokens,
        isAuto: id === auto,
        isInPlan: provider === 'builtin' || models === null || models.includes(id),
        problem: failureOf({ what: 'model', name: id }),
      })),
      embedding: embedding?.name ?? null,
      embeddingProblem: embedding && (lack ?? failureOf({ what: 'embeddings', name: embedding.name })),
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
