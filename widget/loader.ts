import type { loadWidget } from '../server/channels/widget/page/contract.ts'
import { createFinishedCalls } from './loader/finished-calls.ts'
import { createPageTools, type PageTools } from './loader/page-tools.ts'
import { createPanel, type Identity } from './loader/panel.ts'
import { keepAsking } from './loader/settings.ts'

type Parley = {
  /** The id of the agent whose chat is on the page. */
  agentId: string
  open(): void
  close(): void
  /** Removes the chat. The script tag may be added to the page again later. */
  remove(): void
  /** Signs the visitor in with a token from the site's server, or out with null. */
  identify(token: string | null): void
  /** Registers the functions that run client actions on this page, by the names of the actions. */
  tools: PageTools['add']
}

declare global {
  interface Window {
    parley?: Parley
  }
}

const LOADER: (typeof loadWidget)['path'] = '/widget.js'

const script = (document.currentScript ??
  document.querySelector(`script[data-agent][src*="${LOADER}"]`)) as HTMLScriptElement | null
const agentId = script?.dataset.agent

// biome-ignore lint/suspicious/noConsole: the console is where the site's developer looks
if (!script || !agentId) console.error('Parley: the script tag needs data-agent="AGENT_ID".')
// `window.parley` may also be an element of the page with that id.
else if (typeof window.parley?.open !== 'function') {
  window.parley = start(serverOf(script.src), agentId, script.dataset.identity || null)
  document.dispatchEvent(new CustomEvent('parley:ready'))
} else if (window.parley.agentId !== agentId) {
  // biome-ignore lint/suspicious/noConsole: the console is where the site's developer looks
  console.warn(`Parley: the page has the chat of agent ${window.parley.agentId}; a page can have one.`)
}

/** Returns the URL of the service, which a proxy may serve below a path. */
function serverOf(src: string): string {
  const { origin, pathname } = new URL(src)
  return pathname.endsWith(LOADER) ? origin + pathname.slice(0, -LOADER.length) : origin
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
