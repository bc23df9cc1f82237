import { Diff } from '../instructions/diff.tsx'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Actions } from '../ui/field.tsx'
import type { Conflict } from './conflicts.ts'
import classes from './shell.module.css'

const LABELS: Record<string, string> = {
  temp: 'Temperature',
  initialMessages: 'Greeting',
  suggestedMessages: 'Suggested questions',
  ipRateLimits: 'Limit of messages',
  notificationsSettings: 'Daily emails',
  spamSettings: 'Spam',
  allowedDomains: 'Allowed sites',
  retentionDays: 'Days',
  visibility: 'Who can chat with it',
}

/** Returns the label of a field: that of its form, or the words of its name. */
const labelOf = (name: string): string =>
  LABELS[name] ?? name.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/^./, (letter) => letter.toUpperCase())

const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : Array.isArray(value)
      ? value.map(textOf).join('\n')
      : (JSON.stringify(value ?? null, null, 1) ?? '').replace(/^null$/, '')

type ConflictDialogProps = { conflict: Conflict; onChoose: (choice: 'mine' | 'theirs' | 'later') => void }

/** Compares what somebody else has changed in the meantime with what the user wrote. */
export const ConflictDialog = ({ conflict, onChoose }: ConflictDialogProps) => {
  const { changedBy, changedAt, fields } = conflict
  const name = changedBy ?? 'Somebody'
  return (
    <Dialog
      title={`Changed by ${changedBy ?? 'somebody'} in the meantime`}
      isOpen
      onClose={() => onChoose('later')}
      role="alertdialog"
      wide
    >
      <div className={classes.conflict}>
        <p>
          {name} saved this {changedAt && <Ago at={changedAt} />}, after you had opened it. Lines with − are
          theirs, lines with + are yours.
        </p>
        {fields.map(({ name: field, theirs, mine }) => (
          <section key={field} aria-label={labelOf(field)}>
            <h3>{labelOf(field)}</h3>
            <Diff before={textOf(theirs)} after={textOf(mine)} />
          </section>
        ))}
        <Actions>
          <Button kind="primary" onClick={() => onChoose('mine')}>
            Save mine
          </Button>
          <Button onClick={() => onChoose('theirs')}>Keep theirs</Button>
          <Button kind="quiet" onClick={() => onChoose('later')}>
            Keep editing
          </Button>
        </Actions>
      </div>
    </Dialog>
  )
}
