import type { FinishedCalls } from './finished-calls.ts'

type Tool = (input: unknown) => unknown

export type PageTools = {
  /** Registers tools; null removes one. */
  add(tools: Record<string, Tool | null>): void
  /** Runs a tool, once per id, and returns its output or its error. Never throws. */
  run(id: string, name: string, input: unknown): Promise<unknown>
}

/**
 * How long to wait for a tool. Pages that are rendered by scripts register their tools shortly after they have
 * loaded.
 */
const REGISTER_MS = 5_000

export function createPageTools(finished: FinishedCalls): PageTools {
  const known = new Map<string, Tool>()
  const waiting = new Set<() => void>()
  const running = new Map<string, Promise<unknown>>()

  const registered = (name: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (known.has(name)) done()
      }
      const done = (): void => {
        waiting.delete(look)
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(done, REGISTER_MS)
      waiting.add(look)
      look()
    })

  const begin = async (id: string, name: string, input: unknown): Promise<unknown> => {
    const before = finished.find(id)
    if (before) return before.output
    await registered(name)
    const tool = known.get(name)
    if (!tool) return failed(new Error(`This page has no action ${name}.`))
    const output = await outputOf(tool, input)
    finished.add(id, output)
    return output
  }

  return {
    add(tools) {
      for (const [name, tool] of Object.entries(tools)) {
        if (tool) known.set(name, tool)
        else known.delete(name)
      }
      for (const look of [...waiting]) look()
    },
    run(id, name, input) {
      const call = running.get(id) ?? begin(id, name, input).finally(() => running.delete(id))
      running.set(id, call)
      return call
    },
  }
}

async function outputOf(tool: Tool, input: unknown): Promise<unknown> {
  try {
    // The output is converted to JSON and back, so that output that cannot be sent fails here, where the page's
    // developer sees why.
    return JSON.parse(JSON.stringify((await tool(input)) ?? null))
  } catch (error) {
    return failed(error)
  }
}

const failed = (error: unknown) => ({
  status: 'error',
  error: error instanceof Error ? error.message : String(error),
})
