import { type MemberRow, setPresence } from '../../accounts/records/members.ts'
import type { Context } from '../../context.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { Presence } from '../../platform/db/tables/accounts.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { publishDeskEvent } from '../tickets/publish-desk-event.ts'

/**
 * Stores a member's presence. If it has changed, everybody who follows a help desk of the account is notified.
 * Throws RESOURCE_NOT_FOUND when the account has no such member.
 */
export async function publishPresence(
  ctx: Pick<Context, 'db' | 'notifier'>,
  accountId: AccountId,
  memberId: string,
  presence: Presence,
): Promise<MemberRow> {
  return transact(ctx.db, async (trx) => {
    const noted = await setPresence(trx, accountId, memberId, presence)
    if (!noted) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The team member does not exist.' })
    if (noted.before === presence) return noted.member
    // An agent without a stream has a help desk that nobody has used.
    const watched = await trx
      .selectFrom('helpdesk_streams')
      .select('agent_id')
      .where('account_id', '=', accountId)
      .orderBy('agent_id')
      .execute()
    for (const { agent_id } of watched) {
      await publishDeskEvent(
        ctx,
        trx,
        { accountId, agentId: agent_id },
        { type: 'presence', data: { memberId, presence } },
      )
    }
    return noted.member
  })
}
