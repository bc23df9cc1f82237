import type { Context } from '../../context.ts'
import { afterCommit } from '../../platform/db/statements/transact.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { deliverMail, operatorsMailRoute } from '../../platform/mail/deliver-mail.ts'
import { linkTo } from '../links/links.ts'
import { workspaceOrigin } from '../sign-in/sessions/same-site.ts'
import { accountMembers, changeMember, dropMember, presentMember } from './account-members.ts'
import { renameAccount, renameSelf } from './change-names.ts'
import * as contract from './contract.ts'
import { invitationsOf, invite, presentInvitation, revokeInvitation } from './invitations.ts'

const success = { success: true as const }

export const memberRoutes = (ctx: Pick<Context, 'config' | 'db' | 'log' | 'sessions'>): Route[] => [
  route(contract.listAccountMembers, async ({ caller: { account } }) =>
    (await accountMembers(ctx.db, account.id)).map(presentMember),
  ),

  route(contract.updateMember, async ({ caller, params: { memberId }, body }) => {
    await changeMember(ctx.db, caller, memberId, body)
    ctx.sessions.forget()
    const [row] = await accountMembers(ctx.db, caller.account.id, memberId)
    // The member may have been removed at the same moment.
    if (!row) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The team member does not exist.' })
    return presentMember(row)
  }),

  route(contract.updateMe, async ({ caller, body }) => {
    await renameSelf(ctx.db, caller, body.name)
    ctx.sessions.forget()
    return success
  }),

  route(contract.updateAccount, async ({ caller, body }) => {
    await renameAccount(ctx.db, caller, body.name)
    ctx.sessions.forget()
    return success
  }),

  route(contract.removeMember, async ({ caller, params: { memberId } }) => {
    const { activeKeys } = await dropMember(ctx.db, caller, memberId)
    ctx.sessions.forget()
    return { ...success, activeKeys }
  }),

  route(contract.listInvitations, async ({ caller: { account } }) =>
    (await invitationsOf(ctx.db, account.id)).map(presentInvitation),
  ),

  route(contract.createInvitation, async ({ db, caller, body, request }) => {
    const { row, token } = await invite(db, caller, body)
    const link = linkTo(workspaceOrigin(request, ctx.config), 'invitation', token)
    const mailed = ctx.config.publicUrl !== null && ctx.config.smtp !== null
    // The database does not hold the link, so the mail is sent only once, without retries. The inviter gets the link
    // as well.
    if (mailed) await afterCommit(db, () => void mailInvitation(ctx, body.email, caller.account.name, link))
    return { ...presentInvitation(row), link, mailed }
  }),

  route(contract.revokeInvitation, async ({ caller, params: { invitationId } }) => {
    await revokeInvitation(ctx.db, caller, invitationId)
    return success
  }),
]

async function mailInvitation(
  { config, log }: Pick<Context, 'config' | 'log'>,
  email: string,
  account: string,
  link: string,
): Promise<void> {
  const way = operatorsMailRoute(config)
  if (!way) return
  const mail = {
    to: [email],
    subject: `You are invited to ${account}`,
    text: `You are invited to the workspace of ${account}. Accept the invitation within seven days:\n\n${link}\n`,
  }
  await deliverMail(way, mail, AbortSignal.timeout(60_000)).catch((error: unknown) =>
    log.warn({ err: error }, 'an invitation could not be mailed'),
  )
}
