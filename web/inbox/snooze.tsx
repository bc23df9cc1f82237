import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Actions, TextField } from '../ui/field.tsx'
import { formatTime } from '../ui/format.ts'
import { Menu } from '../ui/menu.tsx'
import { tell } from '../ui/toast.tsx'

type SnoozeProps = {
  /** Until when the ticket is snoozed, if it is. */
  wakesAt: string | undefined
  onChange: (change: { wakesAt: string | null }) => Promise<unknown>
}

const MORNING = 9

/** Snoozes a ticket until a time, after which it returns to the team. */
export function Snooze({ wakesAt, onChange }: SnoozeProps) {
  const [isChoosing, setIsChoosing] = useState(false)
  const until = (time: Date): void => {
    setIsChoosing(false)
    void onChange({ wakesAt: time.toISOString() }).then(() =>
      tell('done', `Snoozed until ${formatTime(time.toISOString())}.`, {
        label: 'Undo',
        run: () => void onChange({ wakesAt: null }),
      }),
    )
  }
  const choices = [
    ...times().map(([label, time]) => ({
      id: label,
      label,
      hint: formatTime(time.toISOString()),
      onChoose: () => until(time),
    })),
    { id: 'other', label: 'Another time …', onChoose: () => setIsChoosing(true) },
  ]
  return (
    <>
      {wakesAt ? (
        <p>
          Snoozed until {formatTime(wakesAt)}.{' '}
          <Button small onClick={() => void onChange({ wakesAt: null })}>
            Wake it now
          </Button>
        </p>
      ) : (
        <Menu label="Snooze" choices={choices} isNamed>
          Snooze
        </Menu>
      )}
      <Dialog title="Snooze until" isOpen={isChoosing} onClose={() => setIsChoosing(false)}>
        <ChooseTime onChoose={until} />
      </Dialog>
    </>
  )
}

function ChooseTime({ onChoose }: { onChoose: (time: Date) => void }) {
  const [text, setText] = useState('')
  const time = new Date(text)
  const isWrong = text !== '' && !(time.getTime() > Date.now())
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (text !== '' && !isWrong) onChoose(time)
      }}
    >
      <TextField
        label="Date and time"
        type="datetime-local"
        required
        value={text}
        error={isWrong ? 'Choose a time that is still to come.' : undefined}
        onChange={({ target }) => setText(target.value)}
      />
      <Actions>
        <Button kind="primary" type="submit">
          Snooze
        </Button>
      </Actions>
    </form>
  )
}

/** Times in the time zone of the browser. */
function times(): [label: string, time: Date][] {
  const now = new Date()
  const morning = (days: number): Date =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, MORNING)
  const toMonday = (8 - now.getDay()) % 7 || 7
  return [
    ['In three hours', new Date(now.getTime() + 3 * 3_600_000)],
    ['Tomorrow', morning(1)],
    ['Next week', morning(toMonday)],
  ]
}
