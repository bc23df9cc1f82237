import type { Context } from '../../context.ts'
import { newId } from '../../platform/db/ids.ts'
import type { ToolCallPlace, Toolkit, ToolOutput } from '../tools/tool.ts'

type CallRef = Partial<Pick<ToolCallPlace, 'conversationId' | 'toolCallId'>>

const agentRow = (ctx: Pick<Context, 'db'>, agentId: string) =>
  ctx.db.selectFrom('agents').selectAll().where('id', '=', agentId).executeTakeFirstOrThrow()

/** For tests: returns the agent's current tools. */
export async function toolkitOf(
  ctx: Pick<Context, 'db' | 'toolkits'>,
  agentId: string,
  { channel = 'api', conversationId }: { channel?: string; conversationId?: string } = {},
): Promise<Toolkit> {
  const { account_id: accountId, tools_version: toolsVersion } = await agentRow(ctx, agentId)
  return ctx.toolkits.forAgent({ accountId, agentId, toolsVersion }, channel, conversationId ?? null)
}

/** For tests: makes a call in the same way as the generation loop. */
export async function runTool(
  ctx: Pick<Context, 'db' | 'toolkits'>,
  agentId: string,
  name: string,
  input: unknown,
  { conversationId, toolCallId = newId() }: CallRef = {},
): Promise<ToolOutput> {
  const { account_id: accountId } = await agentRow(ctx, agentId)
  const { tools } = await toolkitOf(ctx, agentId)
  const tool = tools.find((one) => one.name === name)
  if (!tool?.run) throw new Error(`There is no tool ${name} that runs here.`)
  const place = { accountId, agentId, userId: null, toolCallId, signal: new AbortController().signal }
  return tool.run(input, {
    ...place,
    conversationId: conversationId ?? (await addConversation(ctx, agentId)),
  })
}

/** For tests: adds an ongoing conversation of the agent and returns its id. */
export async function addConversation(ctx: Pick<Context, 'db'>, agentId: string): Promise<string> {
  const { account_id } = await agentRow(ctx, agentId)
  const id = newId()
  await ctx.db
    .insertInto('conversations')
    .values({ id, account_id, agent_id: agentId, source: 'API', status: 'ongoing' })
    .execute()
  return id
}
