import { type FrameMessage, isOurs, type PageMessage } from '../page-messages.ts'
import { hostOf } from './link-rule.ts'

/** What comes with it that the panel was opened or closed. */
type Shown = { takeFocus: boolean; isPhone: boolean; language: string | null }

/** The page that embeds the chat, as far as its script tells. */
export type Page = {
  isEmbedded: boolean
  /** null: not known (yet). */
  siteHost(): string | null
  /** Whether the panel is open; a chat in a tab of its own always is. */
  isShown(): boolean
  onShown(listener: (shown: Shown) => void): void
  close(): void
  setUnread(unread: boolean): void
  /** Has the page run one of its actions. Never throws. */
  run(id: string, name: string, input: unknown): Promise<unknown>
}

/** The service has put a sentence here in place of the chat. */
export const sayProblem = (): void => say({ parley: 'problem' })

/** To whoever embeds the chat; nothing that any page may not know. */
function say(message: FrameMessage): void {
  if (window.parent !== window) window.parent.postMessage(message, '*')
}

export function connectPage(): Page {
  const isEmbedded = window.parent !== window
  // Who may embed the chat at all is up to its policy; the script there tells who it is by its first message.
  let origin: string | null = null
  let isShown = !isEmbedded
  const listeners = new Set<(shown: Shown) => void>()
  const waiting = new Map<string, (output: unknown) => void>()
  const unsent: FrameMessage[] = []
  const send = (message: FrameMessage): void => {
    if (origin === null) unsent.push(message)
    else window.parent.postMessage(message, origin)
  }

  addEventListener('message', (event) => {
    if (!isEmbedded || event.source !== window.parent || !isOurs(event.data)) return
    if (origin !== null && event.origin !== origin) return
    const message = event.data as PageMessage
    if (message.parley === 'shown') {
      origin = event.origin
      for (const earlier of unsent.splice(0)) send(earlier)
      isShown = message.isShown === true
      const shown = {
        takeFocus: message.takeFocus === true,
        isPhone: message.isPhone === true,
        language: String(message.language ?? '') || null,
      }
      for (const listener of listeners) listener(shown)
    } else if (message.parley === 'result') {
      waiting.get(message.id)?.(message.output)
      waiting.delete(message.id)
    }
  })
  say({ parley: 'ready' })

  return {
    isEmbedded,
    siteHost: () => hostOf(origin),
    isShown: () => isShown,
    onShown: (listener) => listeners.add(listener),
    close: () => send({ parley: 'close' }),
    setUnread: (unread) => send({ parley: 'unread', unread }),
    run(id, name, input) {
      if (!isEmbedded) {
        return Promise.resolve({ status: 'error', error: 'The chat is not embedded in a page of the site.' })
      }
      return new Promise((resolve) => {
        waiting.set(id, resolve)
        send({ parley: 'call', id, name, input })
      })
    },
  }
}
