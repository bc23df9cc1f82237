import type { showChat } from '../../server/channels/widget/page/contract.ts'
import type { LauncherSettings } from '../../server/channels/widget/page/launcher-settings.ts'
import type { PageMessage } from '../page-messages.ts'
import { type Listener, linkFrame } from './frame-link.ts'
import type { PageTools } from './page-tools.ts'

const CHAT: (typeof showChat)['path'] = '/widget/{agentId}'

/** How long the chat may take to load, on the first try and on each retry. */
const PATIENCE_MS = [6_000, 12_000, 24_000, 60_000]

type Frame = {
  isReady(): boolean
  send(message: PageMessage): void
  /**
   * Tells the frame whether it is shown. The chat is loaded when it is first shown, and reloaded as long as it does
   * not respond.
   */
  setShown(isShown: boolean): void
}

type Options = {
  words: LauncherSettings['words']
  server: string
  agentId: string
  tools: PageTools
  signal: AbortSignal
}

/**
 * Creates the iframe of the chat. A failed load cannot be detected, so the chat announces itself when it has loaded
 * and is shown only then.
 */
export function createFrame(
  box: HTMLElement,
  { words, server, agentId, tools, signal }: Options,
  listener: Omit<Listener, 'onProblem'>,
): Frame {
  const wait = document.createElement('p')
  wait.setAttribute('role', 'status')
  wait.append(document.createElement('b'), words.loading)
  box.append(wait)
  let isShown = false
  let isReady = false
  let shown: { element: HTMLIFrameElement; link: AbortController; since: number } | null = null
  let send: (message: PageMessage) => void = () => {}
  let tries = 0
  let timer: ReturnType<typeof setTimeout>

  const unload = (): void => {
    clearTimeout(timer)
    shown?.link.abort()
    shown?.element.remove()
    shown = null
    isReady = false
    wait.hidden = false
  }
  const load = (): void => {
    unload()
    const element = document.createElement('iframe')
    element.title = words.open
    element.allow = 'microphone; clipboard-write; autoplay'
    element.src = server + CHAT.replace('{agentId}', encodeURIComponent(agentId))
    shown = { element, link: new AbortController(), since: Date.now() }
    const onThere = (): void => {
      element.className = 'there'
      wait.hidden = true
    }
    const onReady = (): void => {
      onThere()
      isReady = true
      tries = 0
      clearTimeout(timer)
      listener.onReady()
    }
    send = linkFrame(element, server, tools, { ...listener, onReady, onProblem: onThere }, shown.link.signal)
    box.append(element)
    timer = setTimeout(loadAgain, PATIENCE_MS[tries])
  }
  const loadAgain = (): void => {
    if (!isShown || isReady) return
    tries = Math.min(tries + 1, PATIENCE_MS.length - 1)
    load()
  }
  addEventListener('online', loadAgain, { signal })
  signal.addEventListener('abort', unload)

  return {
    isReady: () => isReady,
    send: (message) => send(message),
    setShown(next) {
      isShown = next
      if (!next || isReady) return
      if (!shown) load()
      else if (Date.now() - shown.since > (PATIENCE_MS[0] ?? 0)) {
        tries = 0
        load()
      }
    },
  }
}
