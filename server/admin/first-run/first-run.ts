import { sql } from 'kysely'
import { createKey } from '../../accounts/keys/keys.ts'
import { createLink, linkTo } from '../../accounts/links/links.ts'
import { createAccount } from '../../accounts/records/accounts.ts'
import { NO_EMBEDDINGS, NONE } from '../../ai/catalogue/model-remedy.ts'
import type { Context } from '../../context.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { addDemoAgent } from './demo-agent.ts'

/**
 * Creates an account with a key on a database that has none, and the demo agent unless it is disabled. Returns the
 * lines to show to the operator, in which {address} stands for the service's address unless PUBLIC_URL is set.
 */
export async function firstRun(
  ctx: Pick<Context, 'config'> & Parameters<typeof addDemoAgent>[0],
): Promise<string[]> {
  const made = (await hasAccount(ctx.db)) ? null : await ctx.db.transaction().execute(firstAccount)
  if (!made) return []
  const { accountId, key, token } = made
  const address = ctx.config.publicUrl ?? '{address}'
  const { entries } = ctx.config.catalogue
  const lines = [
    '',
    `API key (shown this once): ${key}`,
    `Set-up link of the workspace (works once, for 24 hours): ${linkTo(address, 'set-up', token)}`,
  ]
  if (entries.every(({ provider }) => provider === 'builtin')) lines.push('', NONE.sentence)
  if (!ctx.models.embedding) lines.push('', NO_EMBEDDINGS.sentence)
  if (!ctx.config.seedDemo) return [...lines, '']
  const agentId = await addDemoAgent(ctx, accountId)
  const body = '{"message":"How do I upload a PDF as a source?"}'
  return [
    ...lines,
    '',
    "A demo agent has read Parley's own documentation. Ask it in a browser:",
    '',
    `  ${address}/widget/${agentId}`,
    '',
    'or over the API:',
    '',
    `  curl -N ${address}/api/v2/agents/${agentId}/chat -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'`,
    '',
  ]
}

/**
 * Creates the first account; null when there is one already. If several processes start at once, one of them creates
 * it.
 */
async function firstAccount(trx: Trx): Promise<{ accountId: AccountId; key: string; token: string } | null> {
  await sql`lock table accounts in share row exclusive mode`.execute(trx)
  if (await hasAccount(trx)) return null
  const accountId = await createAccount(trx, 'Default')
  const { key } = await createKey(trx, accountId, { name: 'First key', createdBy: 'operator' })
  const { token } = await createLink(trx, { accountId, kind: 'set-up', createdBy: 'operator' })
  return { accountId, key, token }
}

async function hasAccount(db: Db): Promise<boolean> {
  return (await db.selectFrom('accounts').select('id').limit(1).executeTakeFirst()) !== undefined
}
