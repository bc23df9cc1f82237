import type { Context } from '../../context.ts'
import type { Db } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { usesOf } from '../email/connection/connection.ts'
import { type LastUse, statusOf } from './connection-status.ts'
import { listChannels } from './contract.ts'

export const channelRoutes = (ctx: Pick<Context, 'db'>): Route[] => [
  route(listChannels, async ({ ref }) => ({
    email: await connectedMailbox(ctx.db, ref),
    messaging: await connectedAccounts(ctx.db, ref),
  })),
]

async function connectedMailbox(db: Db, ref: AgentRef) {
  const row = await db
    .selectFrom('email_connections')
    .select(['address', 'imap', 'imap_error', 'imap_checked_at', 'smtp_error', 'smtp_checked_at'])
    .where(ofAgent(ref))
    .executeTakeFirst()
  if (!row) return null
  const { receiving, sending } = usesOf(row)
  return {
    address: row.address,
    ...stateOf([
      { name: 'Receiving', use: receiving },
      { name: 'Sending', use: sending },
    ]),
  }
}

async function connectedAccounts(db: Db, ref: AgentRef) {
  const rows = await db
    .selectFrom('messaging_accounts')
    .select(['business_account_id', 'error', 'checked_at'])
    .where(ofAgent(ref))
    .orderBy('position')
    .execute()
  if (rows.length === 0) return null
  const parts = rows.map(({ business_account_id: name, error, checked_at: checkedAt }) => ({
    name,
    use: { error, checkedAt },
  }))
  return { accounts: rows.length, ...stateOf(parts) }
}

/** Returns the state of a connection, given the last use of each of its parts. Parts that are not configured have no use. */
function stateOf(parts: { name: string; use: LastUse | null }[]) {
  const failures = parts.flatMap(({ name, use }) =>
    use && use.error !== null ? [`${name}: ${use.error}`] : [],
  )
  return { status: statusOf(parts.flatMap(({ use }) => use ?? [])), problem: failures.join(' ') || null }
}
