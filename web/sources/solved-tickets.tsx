import { useQuery } from '@tanstack/react-query'
import { call, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { useSaved } from '../app/use-saved.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Check } from '../ui/field.tsx'
import { Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import classes from './sources.module.css'

const PATH = '/agents/{agentId}/ticket-knowledge'

/** Switches solved tickets as sources on and off. */
export function SolvedTickets({ agentId, onClose }: { agentId: string; onClose: () => void }) {
  const params = { agentId }
  const knowledge = useQuery(reading(PATH, { params }))
  const set = useMutation({
    scope: { id: `${PATH} ${agentId}` },
    mutationFn: (enabled: boolean) => call('PUT', PATH, { params, body: { enabled } }),
    onSuccess: (_done, enabled) => {
      tell(
        'done',
        enabled ? 'Solved tickets become sources within minutes.' : 'Solved tickets are out of the answers.',
      )
      void fetchAgain('/agents/{agentId}/sources')
      return fetchAgain(PATH)
    },
  })
  const [isOn, turn] = useSaved(knowledge.data?.enabled ?? false, set.mutateAsync)
  return (
    <Dialog title="Solved tickets" isOpen onClose={onClose}>
      <div className={classes.drop}>
        <p>
          Each closed ticket with a helpful reply of your team becomes a source. Names, email addresses and
          numbers of the customer are left out.
        </p>
        <Loaded of={knowledge} lines={1}>
          {() => (
            <Check
              label="Answer from solved tickets"
              checked={isOn}
              onChange={({ target }) => turn(target.checked)}
            />
          )}
        </Loaded>
      </div>
    </Dialog>
  )
}
