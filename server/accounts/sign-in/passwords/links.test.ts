import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onPostgres } from '../../../../test/database.ts'
import { startService } from '../../../../test/start.ts'
import { waitingForLock } from '../../../../test/until.ts'
import { browserOf, PASSWORD } from '../../../../test/workspace.ts'
import { createLink, dropInvitationsBy } from '../../links/links.ts'
import { lockMembers } from '../../records/members.ts'

test('an invitation is accepted while whoever made it is removed, without a deadlock', {
  skip: !onPostgres(),
}, async (t) => {
  const service = await startService({}, undefined, { idle: true })
  t.after(() => service.close())
  const { db } = service.ctx
  const { accountId } = await service.account()
  const invited = { email: 'sue@example.com', name: 'Sue', role: 'support' as const, agentIds: null }
  const createdBy = 'member:gone'
  const { token } = await createLink(db, { accountId, kind: 'invitation', createdBy, invited })
  const { accepting } = await db.transaction().execute(async (trx) => {
    // Takes the locks in the order of dropMember.
    await lockMembers(trx, accountId)
    const accepted = { token, name: 'Sue', password: PASSWORD }
    const accepting = browserOf(service).request('POST', '/invitations/accept', accepted)
    await waitingForLock(db, 'from "accounts"')
    await dropInvitationsBy(trx, accountId, createdBy)
    return { accepting }
  })
  assert.equal((await accepting).status, 404)
})
