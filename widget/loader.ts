import { createFinishedCalls } from './loader/finished-calls.ts'
import { createPageTools, type PageTools } from './loader/page-tools.ts'
import { createPanel } from './loader/panel.ts'
import { loadSettings } from './loader/settings.ts'

declare global {
  interface Window {
    parley?: {
      open(): void
      close(): void
      /** What the agent may have this page do: the name of each client action, and how it is done here. */
      tools: PageTools['add']
    }
  }
}

const script = (document.currentScript ??
  document.querySelector('script[data-agent][src*="/widget.js"]')) as HTMLScriptElement | null
const agentId = script?.dataset.agent

// biome-ignore lint/suspicious/noConsole: whoever pastes the tag looks there
if (!script || !agentId) console.error('Parley: the script tag needs data-agent="AGENT_ID".')
else if (!window.parley) {
  const server = new URL(script.src).origin
  const tools = createPageTools(createFinishedCalls(agentId))
  const panel = loadSettings(server, agentId).then(
    (settings) => createPanel({ server, agentId, settings, tools }),
    (error: unknown) => {
      // biome-ignore lint/suspicious/noConsole: whoever pastes the tag looks there
      console.error(`Parley: the chat is not shown. ${error instanceof Error ? error.message : ''}`)
    },
  )
  window.parley = {
    open: () => void panel.then((one) => one?.show({ takeFocus: true })),
    close: () => void panel.then((one) => one?.hide()),
    tools: tools.add,
  }
}
