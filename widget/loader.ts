import { createFinishedCalls } from './loader/finished-calls.ts'
import { createPageTools, type PageTools } from './loader/page-tools.ts'
import { createPanel, type Identity } from './loader/panel.ts'
import { keepAsking } from './loader/settings.ts'

type Parley = {
  /** Whose chat is on the page. */
  agentId: string
  open(): void
  close(): void
  /** Takes the chat away. The tag may be put into the page again later. */
  remove(): void
  /** Signs the visitor in with a token of the site's server; null signs them out. */
  identify(token: string | null): void
  /** What the agent may have this page do: the name of each client action, and how it is done here. */
  tools: PageTools['add']
}

declare global {
  interface Window {
    parley?: Parley
  }
}

const script = (document.currentScript ??
  document.querySelector('script[data-agent][src*="/widget.js"]')) as HTMLScriptElement | null
const agentId = script?.dataset.agent

// biome-ignore lint/suspicious/noConsole: whoever pastes the tag looks there
if (!script || !agentId) console.error('Parley: the script tag needs data-agent="AGENT_ID".')
// An element of the page may have the id.
else if (typeof window.parley?.open !== 'function') {
  window.parley = start(new URL(script.src).origin, agentId, script.dataset.identity || null)
  document.dispatchEvent(new CustomEvent('parley:ready'))
} else if (window.parley.agentId !== agentId) {
  // biome-ignore lint/suspicious/noConsole: as above
  console.warn(`Parley: the page has the chat of agent ${window.parley.agentId}; a page can have one.`)
}

function start(server: string, agentId: string, token: string | null): Parley {
  const identity: Identity = { token, onChange: () => {} }
  const tools = createPageTools(createFinishedCalls(agentId))
  const end = new AbortController()
  const { signal } = end
  const panel = keepAsking(
    server,
    agentId,
    (settings) => createPanel({ server, agentId, settings, tools, identity, signal }),
    signal,
  )
  return {
    agentId,
    open: () => panel.use((one) => one.show({ takeFocus: true })),
    close: () => panel.use((one) => one.hide()),
    remove() {
      end.abort()
      delete window.parley
    },
    identify(token) {
      identity.token = token
      identity.onChange()
    },
    tools: tools.add,
  }
}
