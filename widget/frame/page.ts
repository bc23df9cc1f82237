import { type FrameMessage, isOurs, type PageMessage } from '../page-messages.ts'
import { hostOf } from './link-rule.ts'

/** The data that the page sends when the panel is opened or closed. */
type Shown = { takeFocus: boolean; isPhone: boolean; language: string | null }

/** The page that embeds the chat, as described by the messages of its script. */
export type Page = {
  isEmbedded: boolean
  /** Returns the host of the embedding site, or null when it is not known (yet). */
  siteHost(): string | null
  /**
   * Returns the URL of the embedding page, or at least its origin. Returns null when the chat is not embedded or the
   * browser does not reveal it.
   */
  address(): string | null
  /** Returns the token of the visitor if the site has signed them in. */
  identity(): string | null
  /** Resolves when the page's script has identified the page, or after a timeout. */
  told(): Promise<void>
  /** Returns whether the panel is open. A chat in its own tab always counts as open. */
  isShown(): boolean
  /** Returns when the panel was last open, or 0 if it never was. */
  lastShown(): number
  onShown(listener: (shown: Shown) => void): void
  close(): void
  setUnread(unread: boolean): void
  /** Has the page run one of its actions. Never throws. */
  run(id: string, name: string, input: unknown): Promise<unknown>
}

/** Tells the embedding page that the service has sent an error page instead of the chat. */
export const sayProblem = (): void => say({ parley: 'problem' })

/** Posts a message to the embedding page, whatever its origin. The message must not be confidential. */
function say(message: FrameMessage): void {
  if (window.parent !== window) window.parent.postMessage(message, '*')
}

const TELL_MS = 3_000

export function connectPage(): Page {
  const isEmbedded = window.parent !== window
  // The chat's content security policy controls which sites may embed it. The script on the page reveals its origin
  // with its first message.
  let origin: string | null = null
  let address: string | null = null
  let identity: string | null = null
  let isShown = !isEmbedded
  let lastShown = 0
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
      const told = String(message.address ?? '')
      identity = typeof message.identity === 'string' ? message.identity : null
      address = told.startsWith(`${origin}/`) ? told : origin
      for (const earlier of unsent.splice(0)) send(earlier)
      if (isShown || message.isShown === true) lastShown = Date.now()
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
    identity: () => identity,
    told: () =>
      new Promise((resolve) => {
        if (!isEmbedded || origin !== null) return resolve()
        // The timeout covers pages that embed the chat without the script.
        setTimeout(resolve, TELL_MS)
        listeners.add(() => resolve())
      }),
    // A page that embeds the chat without the script is identified by the browser's referrer.
    address: () => (isEmbedded ? (address ?? (document.referrer || null)) : null),
    isShown: () => isShown,
    lastShown: () => (isShown ? Date.now() : lastShown),
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
