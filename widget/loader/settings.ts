import type { readLauncher } from '../../server/channels/widget/page/contract.ts'
import type { LauncherSettings } from '../../server/channels/widget/page/launcher-settings.ts'

const LAUNCHER: (typeof readLauncher)['path'] = '/widget/{agentId}/launcher.json'

const PAUSES_MS = [2_000, 6_000, 20_000, 60_000]
const SILENCE_MS = 20_000

/** Thrown when there is no such public agent or this site may not show it. Automatic retries would be of no use. */
class Refused extends Error {}

/**
 * Loads the settings and passes them to `make`. After a failure it retries with increasing delays, when the browser
 * is online again, and when the page calls `use`. Of the wishes passed to `use` before the settings have loaded, only
 * the last is carried out.
 */
export function keepAsking<T>(
  server: string,
  agentId: string,
  make: (settings: LauncherSettings) => T,
  signal: AbortSignal,
): { use(wish: (made: T) => void): void } {
  let made: T | null = null
  let wanted: ((made: T) => void) | null = null
  let isAsking = false
  let pauses = PAUSES_MS
  let timer: ReturnType<typeof setTimeout>

  const ask = async (): Promise<void> => {
    if (made || isAsking || signal.aborted) return
    isAsking = true
    clearTimeout(timer)
    try {
      const settings = await loadSettings(server, agentId)
      if (signal.aborted) return
      made = make(settings)
      wanted?.(made)
    } catch (error) {
      if (signal.aborted) return
      // biome-ignore lint/suspicious/noConsole: the console is where the site's developer looks
      console.error(`Parley: the chat is not shown. ${error instanceof Error ? error.message : ''}`)
      const [pause, ...rest] = error instanceof Refused ? [] : pauses
      pauses = rest
      if (pause !== undefined) timer = setTimeout(ask, pause)
    } finally {
      isAsking = false
    }
  }
  addEventListener('online', ask, { signal })
  signal.addEventListener('abort', () => clearTimeout(timer))
  void ask()
  return {
    use(wish) {
      wanted = wish
      if (made) wish(made)
      else void ask()
    },
  }
}

async function loadSettings(server: string, agentId: string): Promise<LauncherSettings> {
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(), SILENCE_MS)
  try {
    const languages = [document.documentElement.lang, ...navigator.languages].filter(Boolean).slice(0, 5)
    const path = LAUNCHER.replace('{agentId}', encodeURIComponent(agentId))
    const query = new URLSearchParams({ languages: languages.join() })
    const response = await fetch(`${server}${path}?${query}`, { signal: silence.signal })
    if (response.status === 404) {
      throw new Refused(
        `Agent ${agentId} is not public, or ${location.host} is not among its allowed domains.`,
      )
    }
    if (!response.ok) throw new Error(`The server answered with status ${response.status}.`)
    return await response.json()
  } finally {
    clearTimeout(timer)
  }
}
