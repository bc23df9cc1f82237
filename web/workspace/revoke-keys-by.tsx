import { call } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Confirm } from '../ui/confirm.tsx'
import { tell } from '../ui/toast.tsx'

type RevokeKeysByProps = {
  /** The maker as a key names it: `member:<id>`. */
  createdBy: string
  /** Who that is, for the title. */
  name: string
  onClose: () => void
}

/** Asks whether all keys that a removed member has left are to be revoked. */
export function RevokeKeysBy({ createdBy, name, onClose }: RevokeKeysByProps) {
  const revoke = useMutation({
    mutationFn: () => call('DELETE', '/keys', { query: { createdBy } }),
    onSuccess: ({ revoked }) => {
      tell(
        'done',
        revoked === 1 ? 'The key is refused from now on.' : `${revoked} keys are refused from now on.`,
      )
      onClose()
    },
    onSettled: () => fetchAgain('/keys'),
  })
  return (
    <Confirm
      title={`Revoke the API keys of ${name}?`}
      action="Revoke for good"
      pending={revoke.isPending}
      onConfirm={() => revoke.mutate()}
      onClose={onClose}
    >
      They go on working although {name} is no longer a member, and so do the keys that were made with them.
      Programs that use them are refused once they are revoked. This cannot be undone.
    </Confirm>
  )
}
