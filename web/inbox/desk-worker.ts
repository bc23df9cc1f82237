import { type DeskNews, followDesk } from './follow-desk.ts'

/**
 * Runs once per browser and follows the help desks that its tabs show, each with one stream. Over HTTP/1.1, a browser
 * opens at most six connections to a service, and the streams of six tabs would use all of them.
 */
type Feed = { ports: Set<MessagePort>; abort: AbortController }

const feeds = new Map<string, Feed>()

function join(agentId: string, port: MessagePort): void {
  const running = feeds.get(agentId)
  if (running) {
    running.ports.add(port)
    return
  }
  const feed = { ports: new Set([port]), abort: new AbortController() }
  feeds.set(agentId, feed)
  const tell = (news: DeskNews): void => {
    for (const one of feed.ports) one.postMessage(news)
  }
  void followDesk(agentId, feed.abort.signal, tell)
}

function leave(port: MessagePort): void {
  for (const [agentId, { ports, abort }] of feeds) {
    if (!ports.delete(port) || ports.size > 0) continue
    abort.abort()
    feeds.delete(agentId)
  }
}

declare global {
  /** The handler of a shared worker, which the types of pages do not have. */
  var onconnect: (event: MessageEvent) => void
}

globalThis.onconnect = ({ ports: [port] }) => {
  if (!port) return
  port.onmessage = ({ data }: MessageEvent<{ follow: string | null }>) => {
    if (data.follow === null) leave(port)
    else join(data.follow, port)
  }
}
