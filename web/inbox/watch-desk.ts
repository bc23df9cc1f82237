import { type DeskNews, followDesk } from './follow-desk.ts'

const script = document.querySelector<HTMLMetaElement>('meta[name=parley-desk-worker]')?.content

/**
 * Follows a help desk until the returned function is called. It uses the stream that the tabs of this browser share, or
 * a stream of its own where browsers do not support shared workers.
 */
export function watchDesk(agentId: string, tell: (news: DeskNews) => void): () => void {
  if (!script || !('SharedWorker' in globalThis)) return watchAlone(agentId, tell)
  const worker = new SharedWorker(script)
  const { port } = worker
  let stop = (): void => port.postMessage({ follow: null })
  port.onmessage = ({ data }: MessageEvent<DeskNews>) => tell(data)
  worker.onerror = () => {
    stop = watchAlone(agentId, tell)
  }
  const follow = (): void => port.postMessage({ follow: agentId })
  const onHide = (): void => port.postMessage({ follow: null })
  const onShow = ({ persisted }: PageTransitionEvent): void => {
    if (!persisted) return
    // The page was in the browser's back/forward cache and received no events.
    follow()
    tell({ event: { reload: true } })
  }
  follow()
  addEventListener('pagehide', onHide)
  addEventListener('pageshow', onShow)
  return () => {
    removeEventListener('pagehide', onHide)
    removeEventListener('pageshow', onShow)
    stop()
    port.close()
  }
}

function watchAlone(agentId: string, tell: (news: DeskNews) => void): () => void {
  const abort = new AbortController()
  void followDesk(agentId, abort.signal, tell)
  return () => abort.abort()
}
