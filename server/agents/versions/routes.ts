import type { Static } from 'typebox'
import type { Context } from '../../context.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { byCreation, type PageRequest, readPage } from '../../platform/http/pagination.ts'
import { type Route, route } from '../../platform/http/route.ts'
import * as contract from '../contract.ts'
import type { UpdateAgent } from '../records/schema.ts'
import { updateAgent } from '../records/update-agent.ts'
import { requireVersion, type VersionRow, versionsOf } from './instruction-versions.ts'

export const versionRoutes = (ctx: Pick<Context, 'db' | 'models'>): Route[] => [
  route(contract.listInstructionVersions, ({ ref, query }) => {
    const read = (page: PageRequest) => versionsOf(ctx.db, ref, page)
    return readPage(query, ['instruction-versions', ref.agentId], read, byCreation, presentVersion)
  }),

  route(contract.restoreInstructionVersion, async ({ db, ref, caller: { actor }, params }) => {
    await transact(db, async (trx) => {
      const row = await requireVersion(trx, ref, params.versionId)
      const { instructions, channel_instructions, model, temp } = row
      const change = {
        instructions,
        // It has the format in which a change like this one was stored.
        channelInstructions: channel_instructions as NonNullable<
          Static<typeof UpdateAgent>['channelInstructions']
        > | null,
        temp,
        ...(ctx.models.ids().includes(model) ? { model } : {}),
      }
      await updateAgent(trx, ref, change, actor)
    })
    return { success: true as const }
  }),
]

const presentVersion = (row: VersionRow) => ({
  id: row.id,
  instructions: row.instructions,
  channelInstructions: row.channel_instructions,
  model: row.model,
  temp: row.temp,
  actor: row.actor,
  createdAt: row.created_at.toISOString(),
})
