import { type FrameMessage, isOurs, type PageMessage } from '../page-messages.ts'
import type { PageTools } from './page-tools.ts'

export type Listener = {
  onReady(): void
  onProblem(): void
  onClose(): void
  onUnread(unread: boolean): void
}

/** Exchanges messages with the chat in the iframe, and with no other window, until `signal` aborts. */
export function linkFrame(
  frame: HTMLIFrameElement,
  server: string,
  tools: PageTools,
  { onReady, onProblem, onClose, onUnread }: Listener,
  signal: AbortSignal,
): (message: PageMessage) => void {
  const { origin: own } = new URL(server)
  const send = (message: PageMessage): void => frame.contentWindow?.postMessage(message, own)
  const hear = ({ source, origin, data }: MessageEvent): void => {
    if (source !== frame.contentWindow || origin !== own || !isOurs(data)) return
    const message = data as FrameMessage
    if (message.parley === 'ready') onReady()
    else if (message.parley === 'problem') onProblem()
    else if (message.parley === 'close') onClose()
    else if (message.parley === 'unread') onUnread(message.unread === true)
    else if (message.parley === 'call') {
      const { id, name, input } = message
      tools.run(id, name, input).then((output) => send({ parley: 'result', id, output }))
    }
  }
  addEventListener('message', hear, { signal })
  return send
}
