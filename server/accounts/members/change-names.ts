import type { Db, Trx } from '../../platform/db/database.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { Caller } from '../../platform/http/route.ts'
import { recordAudit } from '../audit/audit.ts'
import { setAccountName } from '../records/accounts.ts'
import { setMemberName } from '../records/members.ts'
import { setLoginName } from '../sign-in/passwords/logins.ts'

/** Changes the name of a member, under which the member also signs in. */
export async function renameMember(
  trx: Trx,
  accountId: AccountId,
  memberId: string,
  name: string,
): Promise<void> {
  await setMemberName(trx, accountId, memberId, name.trim())
  await setLoginName(trx, memberId, name.trim())
}

/** Changes the name of the member who is signed in. */
export const renameSelf = (db: Db, { account, actor, member }: Caller, name: string): Promise<void> =>
  transact(db, async (trx) => {
    if (!member) throw new TypeError('Only sessions come here.')
    await renameMember(trx, account.id, member.id, name)
    await recordAudit(trx, {
      accountId: account.id,
      actor,
      action: 'member.rename',
      target: member.id,
      detail: { from: member.name, name: name.trim() },
    })
  })

/** Changes the name of the caller's account. */
export const renameAccount = (db: Db, { account, actor }: Caller, name: string): Promise<void> =>
  transact(db, async (trx) => {
    await setAccountName(trx, account.id, name.trim())
    await recordAudit(trx, {
      accountId: account.id,
      actor,
      action: 'account.rename',
      target: account.id,
      detail: { from: account.name, name: name.trim() },
    })
  })
