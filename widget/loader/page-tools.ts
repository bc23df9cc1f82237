type Tool = (input: unknown) => unknown

export type PageTools = {
  add(tools: Record<string, Tool>): void
  /** What the tool gives, or in which words it failed; never throws. */
  run(name: string, input: unknown): Promise<unknown>
}

/** Pages that are put together by scripts register their tools a little after they are there. */
const REGISTER_MS = 5_000

export function createPageTools(): PageTools {
  const known = new Map<string, Tool>()
  const waiting = new Set<() => void>()

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

  return {
    add(tools) {
      for (const [name, tool] of Object.entries(tools)) known.set(name, tool)
      for (const look of [...waiting]) look()
    },
    async run(name, input) {
      try {
        await registered(name)
        const tool = known.get(name)
        if (!tool) throw new Error(`This page has no action ${name}.`)
        // Through JSON: what cannot be sent fails here, where the page's developer sees why.
        return JSON.parse(JSON.stringify((await tool(input)) ?? null))
      } catch (error) {
        return { status: 'error', error: error instanceof Error ? error.message : String(error) }
      }
    },
  }
}
