import { CircleAlert, CircleCheck } from '../ui/icons.ts'
import { sentenceOf } from '../ui/state.tsx'
import classes from './deploy.module.css'

type CheckResult = { name: string; error: string | null; detail?: string }

/** Shows the results of testing a connection, one line per part. */
export function Outcomes({
  isRunning,
  problem,
  outcomes,
}: {
  isRunning: boolean
  problem: unknown
  outcomes: CheckResult[]
}) {
  const shown: CheckResult[] = problem ? [{ name: 'Test', error: sentenceOf(problem) }] : outcomes
  return (
    <div role="status" aria-label="Test of the connection">
      {isRunning && <p>The connection is being tested …</p>}
      {!isRunning && shown.length > 0 && <OutcomeList of={shown} />}
    </div>
  )
}

/** Shows what fails next to the state of a connection. */
export function Failures({ of }: { of: CheckResult[] }) {
  const failures = of.filter(({ error }) => error !== null)
  return failures.length > 0 && <OutcomeList of={failures} />
}

const OutcomeList = ({ of }: { of: CheckResult[] }) => (
  <ul className={classes.outcomes}>
    {of.map(({ name, error, detail }) => (
      <li key={name} className={`${classes.outcome} ${error === null ? classes.good : classes.bad}`}>
        {error === null ? <CircleCheck size={18} aria-hidden /> : <CircleAlert size={18} aria-hidden />}
        <span>
          <strong>{name}</strong>: {error ?? (detail ? `it works, with ${detail}.` : 'it works.')}
        </span>
      </li>
    ))}
  </ul>
)
