import { recordAudit } from '../../accounts/audit/audit.ts'
import type { Context } from '../../context.ts'
import { sendLines } from '../../conversations/exports/send-lines.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { type Route, route } from '../../platform/http/route.ts'
import * as contract from './contract.ts'
import { addErasure, requireErasure } from './erasing/erasures.ts'
import { accountLines } from './exporting/export-account.ts'
import { noCounts, userLines } from './exporting/export-user.ts'
import { ERASE_USER, type EraseUser } from './jobs.ts'
import { findPerson } from './person/find-person.ts'
import { presentErasure } from './person/present.ts'
import { setRetention } from './retention/retention.ts'

export const privacyRoutes = (ctx: Pick<Context, 'db' | 'jobs'>): Route[] => [
  route(contract.eraseUser, async ({ db, caller: { account, actor }, body }) => {
    const person = await findPerson(db, account.id, body)
    const row = await transact(db, async (trx) => {
      const added = await addErasure(trx, account.id, actor, person)
      await ctx.jobs.enqueue<EraseUser>(trx, ERASE_USER, { accountId: account.id, erasureId: added.id })
      return added
    })
    return { data: presentErasure(row) }
  }),

  route(contract.readErasure, async ({ caller: { account }, params: { erasureId } }) => ({
    data: presentErasure(await requireErasure(ctx.db, account.id, erasureId)),
  })),

  route(
    contract.exportUser,
    { idempotencyMode: 'response' },
    async ({ caller: { account, actor }, body, reply }) => {
      const person = await findPerson(ctx.db, account.id, body)
      await recordAudit(ctx.db, { accountId: account.id, actor, action: 'user.export', target: null })
      return sendLines(reply, userLines(ctx.db, account.id, person, noCounts()))
    },
  ),

  route(
    contract.exportAccount,
    { idempotencyMode: 'response' },
    async ({ caller: { account, actor }, reply }) => {
      const entry = { actor, action: 'account.export', target: account.id }
      await recordAudit(ctx.db, { accountId: account.id, ...entry })
      return sendLines(reply, accountLines(ctx.db, account))
    },
  ),

  route(contract.readRetention, async ({ agent }) => ({
    retentionDays: agent.retention_days,
    promptDays: agent.prompt_days,
    redactPaymentNumbers: agent.redacts_payments,
  })),

  route(contract.setRetention, { findsAgent: true }, async ({ db, ref, caller, body }) => {
    await setRetention(db, { ...ref, actor: caller.actor }, body.retentionDays, body)
    return { success: true as const }
  }),
]
