import { planOf } from '../../accounts/plans/plans.ts'
import { isOnlyAccount } from '../../accounts/records/accounts.ts'
import { probeModels } from '../../ai/catalogue/probe-models.ts'
import { bytesOf } from '../../ai/local/hub-models.ts'
import { RUNTIME } from '../../ai/local/install-runtime.ts'
import type { Context } from '../../context.ts'
import type { Db } from '../../platform/db/database.ts'
import { lackOfPgvector } from '../../platform/db/upkeep/pgvector.ts'
import { ApiError, invalidField } from '../../platform/http/errors.ts'
import type { RateWindow } from '../../platform/http/limits/rate-limit.ts'
import { type Caller, type Route, route } from '../../platform/http/route.ts'
import { countRequest } from '../../platform/http/server/gate.ts'
import * as contract from '../contract.ts'

/** The rate limit of model tests, because providers charge for each. */
const TESTS: RateWindow = { limit: 10, windowMs: 3_600_000 }

export const modelRoutes = (
  ctx: Pick<Context, 'config' | 'db' | 'knownFailures' | 'limiter' | 'modelFetcher' | 'models'>,
): Route[] => [
  route(contract.listModels, async ({ caller: { account } }) => {
    const { entries, auto, reranker } = ctx.config.catalogue
    const { embedding } = ctx.models
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

  route(contract.readLocalModels, async ({ caller }) =>
    presentLocal(ctx, await ownsInstallation(ctx.db, caller)),
  ),

  route(contract.fetchLocalModel, { idempotencyMode: 'response' }, async ({ caller, body }) => {
    if (!(await ownsInstallation(ctx.db, caller)))
      throw new ApiError('AUTH_INSUFFICIENT_PERMISSIONS', {
        message:
          'Only the owner of the installation can fetch models: an owner of its only account. Where there are several accounts, the operator does it with the command "models get".',
      })
    const { models, begin } = ctx.modelFetcher
    const model = body.model === undefined ? models[0] : models.find(({ name }) => name === body.model)
    if (!model) throw invalidField('model', `must be one of ${models.map(({ name }) => name).join(', ')}.`)
    begin(model)
    return presentLocal(ctx, true)
  }),

  route(contract.testModels, { idempotencyMode: 'response' }, async ({ caller: { account }, reply }) => {
    await countRequest(reply, ctx.limiter, `models of ${account.id}`, TESTS)
    // The URLs of the servers are for the operator only (the command `doctor` shows them).
    const catalogue = ctx.config.catalogue
    const findings = await probeModels(catalogue, ctx.models, async () => null, { showAddresses: false })
    return { findings: findings.map(({ what, name, ok, sentence }) => ({ what, name, ok, sentence })) }
  }),
]

/** An owner of the only account owns the installation. Among several accounts, none of them speaks for the others. */
async function ownsInstallation(db: Db, { member, account }: Caller): Promise<boolean> {
  return member?.role === 'owner' && (await isOnlyAccount(db, account.id))
}

function presentLocal(
  { models, modelFetcher, config }: Pick<Context, 'config' | 'modelFetcher' | 'models'>,
  isOwner: boolean,
) {
  const { embedding } = models
  const isConfigured = config.catalogue.embedding !== null
  return {
    mayFetch: isOwner,
    inUse: isConfigured ? null : (embedding?.name ?? null),
    isConfigured,
    models: modelFetcher.models.map((model) => ({
      name: model.name,
      downloadBytes: bytesOf(model) + RUNTIME.download,
      diskBytes: bytesOf(model) + RUNTIME.disk,
      memoryBytes: model.memoryMb * 1_048_576,
    })),
    fetching: isOwner ? modelFetcher.fetching() : null,
    problem: isOwner ? modelFetcher.problem() : null,
  }
}
