import { readdir, readFile } from 'node:fs/promises'
import { DEFAULT_PLAN } from '../../accounts/plans/plans.ts'
import { createAgent } from '../../agents/records/create-agent.ts'
import { updateAgent } from '../../agents/records/update-agent.ts'
import { createSource } from '../../knowledge/sources/create-source.ts'
import { trainSource } from '../../knowledge/training/train-source.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { DEMO_AGENT } from '../static/pages/status-page.ts'

export const DEMO_QUESTIONS = [
  'How do I upload a PDF as a source?',
  'How do I put the chat on my website?',
  'What happens when a client loses its connection?',
]
const GUIDES = ['guide', 'operations'].map((folder) => new URL(`../../../docs/${folder}/`, import.meta.url))

/** Creates the demo agent and trains it on Parley's own documentation before the first question can arrive. */
export async function addDemoAgent(
  ctx: Parameters<typeof trainSource>[0],
  accountId: AccountId,
): Promise<string> {
  const account = { id: accountId, plan: DEFAULT_PLAN }
  const agentId = await createAgent(ctx.db, account, 'first-run', {
    name: 'Parley guide',
    instructions: 'You answer questions about Parley from its documentation. Be short and exact.',
    visibility: 'public',
  })
  await updateAgent(
    ctx.db,
    { accountId, agentId },
    {
      initialMessages: ["Hello! I have read Parley's documentation. What would you like to know?"],
      suggestedMessages: DEMO_QUESTIONS.map((text, order) => ({ type: 'single', text, order })),
    },
    'first-run',
  )
  // Register it for the status page, which must not reveal other public agents.
  await ctx.db
    .insertInto('settings')
    .values({ name: DEMO_AGENT, value: json(agentId) })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: json(agentId) }))
    .execute()
  for (const folder of GUIDES) {
    for (const name of (await readdir(folder)).filter((file) => file.endsWith('.md')).sort()) {
      const content = await readFile(new URL(name, folder), 'utf8')
      const title = /^# (.+)$/m.exec(content)?.[1] ?? name
      const source = await createSource(ctx, account, agentId, { type: 'text', name: title, content })
      const version = source.content_version
      await trainSource(
        ctx,
        { sourceId: source.id, version },
        { isLast: () => true, signal: AbortSignal.timeout(30_000) },
      )
    }
  }
  return agentId
}
