import { useId } from 'react'
import { Markdown } from './markdown.tsx'
import classes from './quoted.module.css'

/** A text that somebody has said, to be read beside the field for another one. */
export function Quoted({ label, text }: { label: string; text: string }) {
  const id = useId()
  return (
    <section className={classes.quoted} aria-labelledby={id}>
      <h3 id={id} className={classes.label}>
        {label}
      </h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <blockquote className={classes.text} tabIndex={0} dir="auto">
        <Markdown text={text} />
      </blockquote>
    </section>
  )
}
