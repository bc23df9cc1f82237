import { createAccount } from './accounts/accounts.ts'
import { createKey } from './accounts/keys.ts'
import type { Context } from './context.ts'
import { addDemoAgent } from './demo-agent.ts'

/**
 * On a database without any account: makes one with a key, and the demo agent unless it is switched off.
 * Answers what the operator should see, with {address} where the service's address belongs.
 */
export async function firstRun(ctx: Context): Promise<string[]> {
  const there = await ctx.db.selectFrom('accounts').select('id').limit(1).executeTakeFirst()
  if (there) return []
  const accountId = await createAccount(ctx.db, 'Default')
  const { key } = await createKey(ctx.db, accountId, { name: 'First key' })
  const lines = ['', `API key (shown this once): ${key}`]
  if (!ctx.config.seedDemo) return [...lines, '']
  const agentId = await addDemoAgent(ctx, accountId)
  const body = '{"message":"How do I upload a PDF as a source?"}'
  return [
    ...lines,
    '',
    "A demo agent has read Parley's own documentation. Ask it:",
    '',
    `  curl -N {address}/api/v2/agents/${agentId}/chat -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'`,
    '',
  ]
}
