import type { Db } from '../../platform/db/database.ts'
import { ofAgent } from '../../platform/db/refs.ts'
import type { AgentSnapshot } from '../../platform/db/tables/agents.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { ActionRow } from '../definitions/action-queries.ts'
import { createInputChecks } from '../inputs/check-inputs.ts'
import { lastRun } from '../procedures/procedure-runs.ts'
import {
  describeProcedures,
  describeRunning,
  type Procedure,
  procedureTools,
} from '../procedures/procedure-tools.ts'
import { actionTool, type ToolDeps } from './action-tool.ts'
import type { Tool, Toolkit } from './tool.ts'

/** `toolsVersion` as read with the agent; 0 says that it never had an action or a procedure. */
type AgentTools = {
  accountId: AccountId
  agentId: string
  toolsVersion: number
  /** What another version of the agent than the live one has. */
  version?: Pick<AgentSnapshot, 'actions' | 'procedures'> | undefined
}

export type Toolkits = {
  /** Returns what the agent can do on a channel (a key of channelInstructions), as of `toolsVersion` or newer. */
  forAgent(agent: AgentTools, channel: string, conversationId: string | null): Promise<Toolkit>
  /** Returns the tool of one action, enabled or not; null where this installation cannot run it. */
  forAction(row: ActionRow): Tool | null
}

type Loaded = {
  actions: { tool: Tool; channels: string[] | null }[]
  procedures: Procedure[]
  procedureTools: Tool[]
  bytes: number
}
/** `bytes` is 0 until it is loaded. */
type Entry = { version: number; loading: Promise<Loaded>; bytes: number }

const MAX_AGENTS = 500
// The size of the definitions as JSON; compiled, they take about ten times as much.
const MAX_BYTES = 16_777_216

/** Caches the compiled actions of the most recently used agents. */
export function createToolkits(
  deps: ToolDeps,
  { maxAgents = MAX_AGENTS, maxBytes = MAX_BYTES } = {},
): Toolkits {
  // Least recently used first.
  const kept = new Map<string, Entry>()

  const forgetOldest = (): void => {
    let bytes = 0
    for (const entry of kept.values()) bytes += entry.bytes
    for (const [oldest, entry] of kept) {
      if (kept.size <= maxAgents && bytes <= maxBytes) break
      kept.delete(oldest)
      bytes -= entry.bytes
    }
  }

  const loadedOf = (agent: AgentTools): Promise<Loaded> => {
    if (agent.version) return load(deps, agent)
    const known = kept.get(agent.agentId)
    const entry =
      known && known.version >= agent.toolsVersion
        ? known
        : { version: agent.toolsVersion, loading: load(deps, agent), bytes: 0 }
    kept.delete(agent.agentId)
    kept.set(agent.agentId, entry)
    if (entry === known) return entry.loading
    entry.loading.then(
      ({ bytes }) => {
        entry.bytes = bytes
        forgetOldest()
      },
      () => {
        if (kept.get(agent.agentId) === entry) kept.delete(agent.agentId)
      },
    )
    return entry.loading
  }

  return {
    forAction: (row) => actionTool(deps, row, createInputChecks()),

    async forAgent(agent, channel, conversationId) {
      if (agent.toolsVersion === 0) return { tools: [], procedures: null, running: null }
      const { actions, procedures, procedureTools } = await loadedOf(agent)
      const tools = actions
        .filter(({ channels }) => channels === null || channels.includes(channel))
        .map(({ tool }) => tool)
      if (procedures.length === 0) return { tools, procedures: null, running: null }
      const runningId = conversationId && (await runningProcedure(deps.db, agent.accountId, conversationId))
      const running = procedures.find(({ id }) => id === runningId)
      return {
        tools: [...tools, ...procedureTools],
        procedures: describeProcedures(procedures),
        running: running ? describeRunning(running) : null,
      }
    },
  }
}

async function load(deps: ToolDeps, { accountId, agentId, version }: AgentTools): Promise<Loaded> {
  const { db } = deps
  const actionRows = await db
    .selectFrom('actions')
    .selectAll()
    .where(ofAgent({ accountId, agentId }))
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const procedureRows = await db
    .selectFrom('procedures')
    .select(['id', 'name', 'trigger', 'steps', 'enabled'])
    .where(ofAgent({ accountId, agentId }))
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const rows = enabledIn(actionRows, version?.actions)
  const procedures: Procedure[] = enabledIn(procedureRows, version?.procedures)
  const checks = createInputChecks()
  const actions = rows.flatMap((row) => {
    const tool = actionTool(deps, row, checks)
    return tool ? [{ tool, channels: row.channels }] : []
  })
  return {
    actions,
    procedures,
    procedureTools: procedureTools(db, procedures, checks, deps.onError),
    bytes: Buffer.byteLength(JSON.stringify([rows, procedures])),
  }
}

/** Returns the enabled ones as a version has them. What the version does not know is not enabled in it. */
function enabledIn<R extends { id: string; enabled: boolean }>(
  rows: readonly R[],
  version: readonly (Partial<R> & { id: string })[] | undefined,
): R[] {
  const known = version && new Map(version.map((one) => [one.id, one]))
  return rows
    .map((row) => ({ ...row, ...(known && (known.get(row.id) ?? { enabled: false })) }))
    .filter(({ enabled }) => enabled)
}

async function runningProcedure(
  db: Db,
  accountId: AccountId,
  conversationId: string,
): Promise<string | null> {
  const run = await lastRun(db, accountId, conversationId)
  return run?.status === 'running' ? run.procedure_id : null
}
