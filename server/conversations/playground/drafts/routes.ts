import { authorize } from '../../../accounts/keys/keys.ts'
import { requireAgent } from '../../../agents/records/find-agent.ts'
import { withModels } from '../../../agents/settings/with-models.ts'
import type { Context } from '../../../context.ts'
import { createSource } from '../../../knowledge/sources/create-source.ts'
import { setLeftOut } from '../../../knowledge/sources/left-out.ts'
import { presentSource } from '../../../knowledge/sources/present.ts'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { byCreation, type PageRequest, readPage } from '../../../platform/http/pagination.ts'
import { type Caller, type Route, route } from '../../../platform/http/route.ts'
import * as contract from './contract.ts'
import { changedDraft, compareDraft, findDraft, presentDraft, storeDraft } from './drafts.ts'
import { dropUnusedSources, goLive } from './go-live.ts'
import { drafted, type Now, readNow, rolledBack, versionOf } from './snapshot.ts'
import { presentListed, presentVersion, requireVersion, versionRows } from './versions.ts'

const success = { success: true as const }

export const draftRoutes = (ctx: Pick<Context, 'db' | 'filesDir' | 'jobs' | 'models'>): Route[] => [
  route(contract.readDraft, ({ db, ref, caller }) => {
    authorize(caller, 'actions:read')
    return presentDraft(db, ref)
  }),

  route(
    withModels(contract.updateDraft, ctx.models.ids()),
    { findsAgent: true },
    async ({ db, ref, caller, body }) => {
      authorize(caller, 'actions:read')
      if (body.actions || body.procedures) authorize(caller, 'actions:write')
      if (body.sources) authorize(caller, 'sources:write')
      await changing(db, ref, async (trx, now) => {
        const before = (await findDraft(trx, ref))?.changes ?? {}
        await storeDraft(trx, ref, now, changedDraft(now, before, body), caller.actor)
      })
      return presentDraft(db, ref)
    },
  ),

  route(contract.discardDraft, { findsAgent: true }, async ({ db, ref, caller }) => {
    await changing(db, ref, (trx) => dropDraft(trx, ref, caller))
    return success
  }),

  route(contract.createDraftSource, { findsAgent: true }, async ({ db, ref, caller, body }) => {
    authorize(caller, 'agents:write')
    return changing(db, ref, async (trx, now) => {
      const before = (await findDraft(trx, ref))?.changes ?? {}
      const changes =
        body.replaces === undefined
          ? before
          : changedDraft(now, before, { sources: [{ id: body.replaces, isIncluded: false }] })
      const row = await createSource({ ...ctx, db: trx }, caller.account, ref.agentId, body.source)
      await setLeftOut(trx, ctx.jobs, ref, [row.id], true)
      const sources = { ...changes.sources, [row.id]: true }
      await storeDraft(trx, ref, now, { ...changes, sources }, caller.actor)
      // What it replaces may be a source of the draft alone.
      if (body.replaces) await dropUnusedSources(trx, ref, caller, body.replaces)
      return presentSource({ ...row, left_out: true })
    })
  }),

  route(contract.readDraftChanges, async ({ db, ref, caller }) => {
    authorize(caller, 'actions:read')
    return compareDraft(db, ref, await readNow(db, ref))
  }),

  route(contract.publishDraft, { findsAgent: true }, async ({ db, ref, caller, body }) => {
    authorize(caller, 'actions:read')
    await changing(db, ref, async (trx, now) => {
      const compared = await compareDraft(trx, ref, now)
      if (compared.version !== body.version)
        throw new ApiError('VERSION_MISMATCH', {
          message:
            'The draft or the live agent has been changed since these changes were read. Look at them again in details.current, and publish that version.',
          changed: { current: compared },
        })
      const row = await findDraft(trx, ref)
      const target = drafted(now, row?.changes ?? {})
      await goLive(trx, ctx.jobs, ref, caller, { live: now.live, target, kind: 'published' })
      await dropDraft(trx, ref, caller)
    })
    return success
  }),

  ...versionRoutes(ctx),
]

const versionRoutes = (ctx: Pick<Context, 'db' | 'jobs' | 'models'>): Route[] => [
  route(contract.listVersions, async ({ ref, query, caller }) => {
    authorize(caller, 'actions:read')
    const { live } = await readNow(ctx.db, ref)
    const read = (page: PageRequest) => versionRows(ctx.db, ref, page)
    return readPage(query, ['agent-versions', ref.agentId], read, byCreation, (row) =>
      presentListed(row, live),
    )
  }),

  route(contract.readVersion, async ({ ref, params, caller }) => {
    authorize(caller, 'actions:read')
    const row = await requireVersion(ctx.db, ref, params.agentVersionId)
    return presentVersion(ctx.db, ref, row, await readNow(ctx.db, ref), ctx.models.ids())
  }),

  route(contract.restoreVersion, { findsAgent: true }, async ({ db, ref, caller, params, body }) => {
    authorize(caller, 'actions:read')
    await changing(db, ref, async (trx, now) => {
      const row = await requireVersion(trx, ref, params.agentVersionId)
      const target = rolledBack(now, row.snapshot, ctx.models.ids())
      if (versionOf(now, target) !== body.version)
        throw new ApiError('VERSION_MISMATCH', {
          message:
            'The live agent has been changed since this version was compared with it. Look at the changes again in details.current, and roll back with that version.',
          changed: { current: await presentVersion(trx, ref, row, now, ctx.models.ids()) },
        })
      await goLive(trx, ctx.jobs, ref, caller, { live: now.live, target, kind: 'restored' })
      await dropUnusedSources(trx, ref, caller)
    })
    return success
  }),
]

/** Runs a change with the lock of the agent, and what is live then. */
const changing = <R>(db: Db, ref: AgentRef, work: (trx: Trx, now: Now) => Promise<R>): Promise<R> =>
  transact(db, async (trx) => {
    await requireAgent(trx, ref, 'update')
    return work(trx, await readNow(trx, ref))
  })

async function dropDraft(trx: Trx, ref: AgentRef, caller: Caller): Promise<void> {
  await trx.deleteFrom('agent_drafts').where(ofAgent(ref)).execute()
  await dropUnusedSources(trx, ref, caller)
}
