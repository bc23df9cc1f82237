import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import { tell } from '../ui/toast.tsx'
import classes from './deploy.module.css'

const SHOWN_MS = 2_000

/** Shows text with a button that copies it. */
export function Code({ label, text }: { label: string; text: string }) {
  const [isCopied, setIsCopied] = useState(false)
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setIsCopied(true)
      setTimeout(() => setIsCopied(false), SHOWN_MS)
    } catch {
      // Browsers allow clipboard access on secure pages only.
      tell('problem', 'The browser does not let this page copy. Mark the text and copy it by hand.')
    }
  }
  return (
    <div className={classes.code}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <section tabIndex={0} aria-label={label}>
        <pre>{text}</pre>
      </section>
      <Button small icon={isCopied ? Check : Copy} onClick={() => void copy()}>
        {isCopied ? 'Copied' : 'Copy'}
      </Button>
    </div>
  )
}
