import { planOf } from '../accounts/plans/plans.ts'
import type { Context } from '../context.ts'
import { ownRow } from '../platform/db/refs.ts'
import { attempt } from '../platform/db/statements/transact.ts'
import { ApiError } from '../platform/http/errors.ts'
import { byCreation, decodeCursor, fingerprint, pageOf } from '../platform/http/pagination.ts'
import { type Route, route } from '../platform/http/route.ts'
import * as contract from './contract.ts'
import { guardrailRoutes } from './guardrails/routes.ts'
import type { AgentReactions } from './records/agent-reactions.ts'
import { cloneAgent } from './records/clone-agent.ts'
import { createAgent } from './records/create-agent.ts'
import { deleteAgent } from './records/delete-agent.ts'
import { presentAgent } from './records/present.ts'
import { findFullAgent, hasLiveSource, listFullAgents } from './records/queries.ts'
import { updateAgent } from './records/update-agent.ts'
import { modelRoutes } from './settings/model-routes.ts'
import { updateStyles } from './settings/update-styles.ts'
import { withModels } from './settings/with-models.ts'
import { versionRoutes } from './versions/routes.ts'

const success = { success: true as const }

export const agentRoutes = (
  ctx: Pick<
    Context,
    'config' | 'db' | 'jobs' | 'knownFailures' | 'limiter' | 'log' | 'modelFetcher' | 'models'
  >,
  reactions: AgentReactions,
): Route[] => [
  ...modelRoutes(ctx),
  ...versionRoutes(ctx),
  ...guardrailRoutes(ctx),
  route(contract.listAgents, async ({ caller: { account, member }, query }) => {
    const print = fingerprint('agents', account.id)
    const position = decodeCursor(query.cursor, print, undefined, (id) => /^[\w-]{21}$/.test(id))
    const { rows, total } = await listFullAgents(
      ctx.db,
      account.id,
      { limit: query.limit, position },
      member?.agentIds,
    )
    return pageOf(rows, query.limit, total, print, byCreation, presentAgent)
  }),

  route(
    withModels(contract.createAgent, ctx.models.ids()),
    async ({ db, caller, body: { url, ...body } }) => {
      const id = await createAgent(db, caller.account, caller.actor, body)
      if (url === undefined) return { id }
      try {
        await attempt(db, () => reactions.addLinkSource(db, caller.account, id, url))
        return { id }
      } catch (error) {
        // The agent has been created. The caller learns what must be repeated (service-api, "AI agent management").
        ctx.log.warn({ err: error, agent: id }, 'the seed URL could not be added')
        return { id, pendingSteps: ['ADD_SOURCE' as const] }
      }
    },
  ),

  // One statement loads the agent with everything that is shown.
  route(contract.readAgent, { findsAgent: true }, async ({ db, ref }) => {
    const row = await findFullAgent(db, ref)
    if (!row) throw new ApiError('AGENT_NOT_FOUND')
    return presentAgent(row)
  }),

  route(
    withModels(contract.updateAgent, ctx.models.ids()),
    { findsAgent: true },
    async ({ db, ref, caller: { actor }, body }) => {
      await updateAgent(db, ref, body, actor)
      return success
    },
  ),

  route(contract.deleteAgent, { findsAgent: true }, async ({ ref, caller }) => {
    await deleteAgent({ ...ctx, ...reactions }, ref, caller.actor)
    return success
  }),

  ...settingRoutes(),
  route(contract.cloneAgent, { findsAgent: true }, async ({ db, caller, params }) => {
    const { id, failure } = await cloneAgent(db, caller.account, caller.actor, params.agentId, reactions)
    if (failure === undefined) return { id }
    ctx.log.error({ err: failure, agent: id, from: params.agentId }, 'the sources could not be copied')
    return { id, pendingSteps: ['ADD_SOURCE' as const] }
  }),

  route(contract.trainAgent, async ({ reply }) => {
    reply.header('deprecation', 'true')
    return {
      ...success,
      deprecated: true as const,
      message: 'Sources are trained automatically; this call does nothing.',
    }
  }),
]

const settingRoutes = (): Route[] => [
  route(contract.updateStyles, { findsAgent: true }, async ({ db, ref, body }) => {
    await updateStyles(db, ref, body.styles)
    return success
  }),

  route(
    contract.setAutoRetrain,
    {
      // Switching it off is always possible, even after the plan or the sources have changed.
      check: ({ caller: { account }, body }) => {
        if (body.enabled && !planOf(account.plan).features.includes('auto-retrain'))
          throw new ApiError('PLAN_FEATURE_NOT_AVAILABLE')
      },
    },
    async ({ db, ref, body }) => {
      if (body.enabled && !(await hasLiveSource(db, ref))) throw new ApiError('AGENT_NOT_TRAINED')
      await db
        .updateTable('agents')
        .set({ auto_retrain: body.enabled })
        .where(ownRow(ref.accountId, ref.agentId))
        .execute()
      return success
    },
  ),
]
