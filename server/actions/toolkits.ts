import type { Db } from '../db/database.ts'
import type { AccountId } from '../db/tables.ts'
import { actionTool, type ToolDeps } from './action-tool.ts'
import { createInputChecks } from './check-inputs.ts'
import { lastRun } from './procedure-runs.ts'
import { describeProcedures, type Procedure, procedureTools } from './procedure-tools.ts'
import type { Tool, Toolkit } from './tool.ts'

/** `toolsVersion` as read with the agent; 0 says that it never had an action or a procedure. */
export type AgentTools = { accountId: AccountId; agentId: string; toolsVersion: number }

export type Toolkits = {
  /** What the agent can do on a channel (a key of channelInstructions), as of `toolsVersion` or newer. */
  forAgent(agent: AgentTools, channel: string, conversationId: string | null): Promise<Toolkit>
}

type Loaded = {
  actions: { tool: Tool; channels: string[] | null }[]
  procedures: Procedure[]
  procedureTools: Tool[]
}

const MOST_AGENTS = 500

/** Keeps the compiled actions of the agents asked last. */
export function createToolkits(deps: ToolDeps, { mostAgents = MOST_AGENTS } = {}): Toolkits {
  // In order of use, oldest first.
  const kept = new Map<string, { version: number; loading: Promise<Loaded> }>()

  const loadedOf = (agent: AgentTools): Promise<Loaded> => {
    const known = kept.get(agent.agentId)
    const entry =
      known && known.version >= agent.toolsVersion
        ? known
        : { version: agent.toolsVersion, loading: load(deps, agent) }
    kept.delete(agent.agentId)
    kept.set(agent.agentId, entry)
    for (const oldest of kept.keys()) {
      if (kept.size <= mostAgents) break
      kept.delete(oldest)
    }
    entry.loading.catch(() => {
      if (kept.get(agent.agentId) === entry) kept.delete(agent.agentId)
    })
    return entry.loading
  }

  return {
    async forAgent(agent, channel, conversationId) {
      if (agent.toolsVersion === 0) return { tools: [], procedures: null }
      const { actions, procedures, procedureTools } = await loadedOf(agent)
      const tools = actions
        .filter(({ channels }) => channels === null || channels.includes(channel))
        .map(({ tool }) => tool)
      if (procedures.length === 0) return { tools, procedures: null }
      const running = conversationId && (await runningProcedure(deps.db, agent.accountId, conversationId))
      return {
        tools: [...tools, ...procedureTools],
        procedures: describeProcedures(procedures, running || null),
      }
    },
  }
}

async function load(deps: ToolDeps, { accountId, agentId }: AgentTools): Promise<Loaded> {
  const { db } = deps
  const rows = await db
    .selectFrom('actions')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .where('enabled', '=', true)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const procedures: Procedure[] = await db
    .selectFrom('procedures')
    .select(['id', 'name', 'trigger', 'steps'])
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .where('enabled', '=', true)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const checks = createInputChecks()
  const actions = rows.flatMap((row) => {
    const tool = actionTool(deps, row, checks)
    return tool ? [{ tool, channels: row.channels }] : []
  })
  return { actions, procedures, procedureTools: procedureTools(db, procedures, checks, deps.onError) }
}

async function runningProcedure(
  db: Db,
  accountId: AccountId,
  conversationId: string,
): Promise<string | null> {
  const run = await lastRun(db, accountId, conversationId)
  return run?.status === 'running' ? run.procedure_id : null
}
