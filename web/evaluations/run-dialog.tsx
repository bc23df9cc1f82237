import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Actions, Form, TextField } from '../ui/field.tsx'

type RunDialogProps = { isPending: boolean; onRun: (note: string) => void; onClose: () => void }

/** Asks for a note that identifies the run later. */
export const RunDialog = ({ isPending, onRun, onClose }: RunDialogProps) => (
  <Dialog title="Run the evaluation" isOpen onClose={onClose}>
    <Form onSubmit={(fields) => onRun(String(fields.get('note')).trim())}>
      <TextField
        label="Note (optional)"
        name="note"
        maxLength={200}
        placeholder="Before the new handbook"
        hint="The note identifies the run in comparisons."
        autoFocus
      />
      <Actions>
        <Button kind="primary" type="submit" pending={isPending}>
          Run it now
        </Button>
        <Button kind="quiet" onClick={onClose}>
          Cancel
        </Button>
      </Actions>
    </Form>
  </Dialog>
)
