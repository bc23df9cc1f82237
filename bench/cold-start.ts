import { percentiles } from './load.ts'
import { prepare, start, stop } from './service.ts'

type ColdStartResult = {
  scenario: 'cold-start'
  database: string
  runs: number
  firstAnswerMs: ReturnType<typeof percentiles>
}

const RUNS = 7

/** The time from the start of the process on an existing folder to the end of the built-in responder's first answer. */
export async function coldStartScenario(server: string | null): Promise<ColdStartResult> {
  const prepared = await prepare(server, 1)
  const times: number[] = []
  for (let run = 0; run < RUNS; run++) {
    const begun = performance.now()
    const { url, child } = await start(['server/main.ts'], prepared.env)
    const response = await fetch(`${url}/api/v2/agents/${prepared.agentId}/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${prepared.keys[0]}`, 'content-type': 'application/json' },
      body: JSON.stringify({ message: 'Hello' }),
    })
    const text = await response.text()
    if (!text.includes('[DONE]')) throw new Error(text)
    // The first run prepares a new folder.
    if (run > 0) times.push(performance.now() - begun)
    await stop(child)
  }
  await prepared.remove()
  return {
    scenario: 'cold-start',
    database: server ? 'PostgreSQL' : 'embedded',
    runs: times.length,
    firstAnswerMs: percentiles(times),
  }
}
