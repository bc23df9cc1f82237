import { Button } from '../ui/button.tsx'
import { Check, Copy } from '../ui/icons.ts'
import { useCopy } from '../ui/use-copy.ts'
import classes from './deploy.module.css'

/** Shows text with a button that copies it. */
export function Code({ label, text }: { label: string; text: string }) {
  const [isCopied, copy] = useCopy()
  return (
    <div className={classes.code}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <section tabIndex={0} aria-label={label}>
        <pre>{text}</pre>
      </section>
      <Button small icon={isCopied ? Check : Copy} onClick={() => void copy(text)}>
        {isCopied ? 'Copied' : 'Copy'}
      </Button>
    </div>
  )
}
