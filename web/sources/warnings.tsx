import type { Source } from '../app/api.ts'
import classes from './sources.module.css'

type Warnings = NonNullable<Source['warnings']>

/** Says what of a document is not in its text, where that is, and what can be done. */
export function Warnings({ of: warnings }: { of: Warnings }) {
  return (
    <ul className={classes.warnings}>
      {warnings.map(({ kind, message }) => (
        <li key={kind}>{message}</li>
      ))}
    </ul>
  )
}
