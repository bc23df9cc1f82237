import { useQuery } from '@tanstack/react-query'
import { call, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Actions, FormProblem } from '../ui/field.tsx'
import { plural } from '../ui/format.ts'
import { Loaded, sentenceOf } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import { ChangeList, titleOf } from './change-list.tsx'
import classes from './drafts.module.css'
import { DRAFT, draftChanged, useDraft, VERSIONS } from './use-draft.ts'

/** Fetches again what is shown of the live agent. */
export const liveChanged = (): Promise<void> =>
  fetchAgain(
    '/agents/{agentId}',
    '/agents',
    '/agents/{agentId}/instructions/versions',
    ...['/agents/{agentId}/actions', '/agents/{agentId}/actions/{actionId}'],
    ...['/agents/{agentId}/procedures', '/agents/{agentId}/procedures/{procedureId}'],
    ...[VERSIONS, `${VERSIONS}/{agentVersionId}`],
  )

/** Names what changes for customers, and publishes the draft. */
export function Publish({ agentId, onClose }: { agentId: string; onClose: () => void }) {
  const { data: draft } = useDraft(agentId)
  const compared = useQuery({ ...reading(`${DRAFT}/changes`, { params: { agentId } }), staleTime: 0 })
  const publish = useMutation({
    meta: { quiet: true },
    mutationFn: (version: string) =>
      call('POST', `${DRAFT}/publish`, { params: { agentId }, body: { version } }),
    onSuccess: () => {
      tell('done', 'Published. The next answer to a customer follows it.')
      onClose()
      return Promise.all([draftChanged(), liveChanged()])
    },
    // What is shown may be what has changed.
    onError: () => void draftChanged(),
  })
  const { waiting, failed } = draft?.reading ?? { waiting: 0, failed: 0 }
  return (
    <Dialog title="Publish the draft?" isOpen onClose={onClose} wide>
      <Loaded of={compared}>
        {({ version, changes, changedSince }) => (
          <div className={classes.stack}>
            <p>
              {changes.length === 0
                ? 'The draft is like the live agent, so nothing changes.'
                : `Customers are answered with ${plural(changes.length, 'change')} from the next answer on. You can roll back under Versions.`}
            </p>
            {changedSince.length > 0 && (
              <p role="note">
                The live agent has been changed since the draft was begun:{' '}
                {[...new Set(changedSince.map(titleOf))].join(', ')}.
              </p>
            )}
            {waiting > 0 && (
              <p role="note">{plural(waiting, 'new source')} will answer once they are read.</p>
            )}
            {failed > 0 && (
              <p role="note">{plural(failed, 'new source')} could not be read, and will answer nothing.</p>
            )}
            <ChangeList agentId={agentId} changes={changes} />
            {publish.error && <FormProblem>{sentenceOf(publish.error)}</FormProblem>}
            <Actions>
              <Button kind="primary" pending={publish.isPending} onClick={() => publish.mutate(version)}>
                Publish {plural(changes.length, 'change')}
              </Button>
              <Button kind="quiet" onClick={onClose}>
                Cancel
              </Button>
            </Actions>
          </div>
        )}
      </Loaded>
    </Dialog>
  )
}
