import { useEffect, useRef, useState } from 'react'
import type { Agent } from '../app/api.ts'
import { base } from '../app/base.ts'
import classes from './deploy.module.css'

type Chat = Agent['styles']['chat']

/** Shows the real chat in an iframe and sends it the unsaved appearance. */
export function Preview({ agentId, chat }: { agentId: string; chat: Chat }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [isReady, setIsReady] = useState(false)
  useEffect(() => {
    // The chat ignores drafts until it has loaded its saved appearance, so the draft is sent again.
    const timers = (isReady ? [0, 500, 1_500] : []).map((ms) =>
      setTimeout(
        () => frame.current?.contentWindow?.postMessage({ parley: 'preview', chat }, location.origin),
        ms,
      ),
    )
    return () => timers.forEach(clearTimeout)
  }, [chat, isReady])
  return (
    <iframe
      ref={frame}
      className={classes.preview}
      src={`${base}/widget/${agentId}`}
      title="The chat as it would look"
      onLoad={() => setIsReady(true)}
    />
  )
}
