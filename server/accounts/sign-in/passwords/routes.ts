import type { Context } from '../../../context.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { type Route, route } from '../../../platform/http/route.ts'
import { recordAudit } from '../../audit/audit.ts'
import { dropResetLinks, readLink, takeLink } from '../../links/links.ts'
import { setAccountName } from '../../records/accounts.ts'
import { lockMembers, requireMemberById } from '../../records/members.ts'
import * as contract from '../contract.ts'
import { SEND_RESET, type SendReset } from '../jobs.ts'
import type { Exchange } from '../provider/ask-auth.ts'
import { countEntry, countReset } from './attempts.ts'
import { rememberDevice } from './known-devices.ts'
import { addLogin, hashOfPassword, replacePassword } from './logins.ts'

const success = { success: true as const }

type Needs = Pick<Context, 'config' | 'db' | 'jobs' | 'limiter' | 'maintenance' | 'sessions'>

/**
 * Routes for people who hold a link and have no session. The token is checked before a password is hashed, because
 * hashing is slow. The members are locked before the link, as when a member is removed with their links.
 */
export const linkRoutes = (ctx: Needs): Route[] => [...joinRoutes(ctx), ...resetRoutes(ctx)]

const joinRoutes = (ctx: Omit<Needs, 'jobs'>): Route[] => [
  route(contract.setUp, async ({ body, request, reply }) => {
    await enter(ctx, { request, reply })
    const { account_id: accountId } = await readLink(ctx.db, 'set-up', body.token)
    const passwordHash = await hashOfPassword(body.password)
    await transact(ctx.db, async (trx) => {
      await lockMembers(trx, accountId)
      await takeLink(trx, 'set-up', body.token)
      if (body.accountName !== undefined) await setAccountName(trx, accountId, body.accountName)
      const { email, name } = body
      const owner = { accountId, email, name, role: 'owner' as const, agentIds: null, passwordHash }
      const { memberId } = await addLogin(trx, owner)
      await recordAudit(trx, {
        accountId,
        actor: `member:${memberId}`,
        action: 'account.set-up',
        target: memberId,
      })
    })
    await rememberDevice(ctx, { request, reply }, body.email)
    return success
  }),

  route(contract.lookAtInvitation, async ({ body, request, reply }) => {
    await enter(ctx, { request, reply })
    const link = await readLink(ctx.db, 'invitation', body.token)
    const { name } = await ctx.db
      .selectFrom('accounts')
      .select('name')
      .where('id', '=', link.account_id)
      .executeTakeFirstOrThrow()
    return {
      accountName: name,
      email: link.email ?? '',
      name: link.name,
      role: link.role ?? 'viewer',
      expiresAt: link.expires_at.toISOString(),
    }
  }),

  route(contract.acceptInvitation, async ({ body, request, reply }) => {
    await enter(ctx, { request, reply })
    const { account_id: accountId, email } = await readLink(ctx.db, 'invitation', body.token)
    const passwordHash = await hashOfPassword(body.password)
    await transact(ctx.db, async (trx) => {
      await lockMembers(trx, accountId)
      const link = await takeLink(trx, 'invitation', body.token)
      const { role, agent_ids: agentIds } = link
      const wanted = { accountId, email: link.email ?? '', name: body.name, role: role ?? 'viewer', agentIds }
      const { memberId } = await addLogin(trx, { ...wanted, passwordHash })
      await recordAudit(trx, {
        accountId,
        actor: `member:${memberId}`,
        action: 'invitation.accept',
        target: link.id,
        detail: { role, agentIds },
      })
    })
    await rememberDevice(ctx, { request, reply }, email ?? '')
    return success
  }),
]

const resetRoutes = (ctx: Needs): Route[] => [
  route(contract.requestPasswordReset, async ({ body: { email }, request, reply }) => {
    const { device } = await enter(ctx, { request, reply }, email)
    await countReset(ctx.db, request, email, device)
    // The job looks up the address later, so that the response time does not reveal whether it has a login.
    if (ctx.config.smtp && ctx.config.publicUrl)
      await ctx.jobs.enqueue<SendReset>(ctx.db, SEND_RESET, { email })
    return success
  }),

  route(contract.acceptPasswordReset, async ({ body, request, reply }) => {
    await enter(ctx, { request, reply })
    const { account_id: accountId } = await readLink(ctx.db, 'reset', body.token)
    const passwordHash = await hashOfPassword(body.password)
    const email = await transact(ctx.db, async (trx) => {
      await lockMembers(trx, accountId)
      const { member_id } = await takeLink(trx, 'reset', body.token)
      const member = await requireMemberById(trx, accountId, member_id ?? '')
      await dropResetLinks(trx, accountId, member.id)
      await replacePassword(trx, member, passwordHash)
      await recordAudit(trx, {
        accountId,
        actor: `member:${member.id}`,
        action: 'password.reset',
        target: member.id,
      })
      return member.email
    })
    ctx.sessions.forget()
    // A member whom the guesses of strangers have locked out on new devices can sign in on this one from now on.
    await rememberDevice(ctx, { request, reply }, email)
    return success
  }),
]

async function enter(
  ctx: Omit<Needs, 'jobs'>,
  exchange: Exchange,
  email?: string,
): Promise<{ device: string | null }> {
  await ctx.maintenance.refuse()
  return countEntry(ctx, exchange, email)
}
