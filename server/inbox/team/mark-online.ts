import { presenceOf } from '../../accounts/records/members.ts'
import type { Context } from '../../context.ts'
import type { Db } from '../../platform/db/database.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { afterCommit } from '../../platform/db/statements/transact.ts'
import type { Caller } from '../../platform/http/route.ts'
import { publishPresence } from './publish-presence.ts'

/**
 * Records after the commit that a signed-in member who takes over or replies is there, unless the member has chosen to
 * be away. A key that acts for a member says nothing about where the member is.
 */
export async function markOnline(
  ctx: Pick<Context, 'notifier' | 'log'>,
  db: Db,
  { account, member }: Pick<Caller, 'account' | 'member'>,
): Promise<void> {
  if (!member) return
  // In a transaction of its own, because it locks the streams of all agents.
  await afterCommit(db, async (after) => {
    try {
      const row = await after
        .selectFrom('members')
        .selectAll()
        .where(ownRow(account.id, member.id))
        .executeTakeFirst()
      if (row && presenceOf(row) !== 'away')
        await publishPresence({ ...ctx, db: after }, account.id, member.id, 'online')
    } catch (error) {
      ctx.log.warn({ err: error, member: member.id }, 'the presence of a member could not be stored')
    }
  })
}
