import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call, listing, type OutputOf, reading } from '../app/api.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Actions, FormProblem } from '../ui/field.tsx'
import { formatTime, plural } from '../ui/format.ts'
import { History } from '../ui/icons.ts'
import { Badge } from '../ui/page.tsx'
import { ShowMore } from '../ui/show-more.tsx'
import { Empty, Loaded, sentenceOf } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import { wordsOfActor } from '../workspace/audit-words.ts'
import { ChangeList } from './change-list.tsx'
import classes from './drafts.module.css'
import { liveChanged } from './publish.tsx'
import { draftChanged, VERSIONS } from './use-draft.ts'

type Version = OutputOf<'GET', typeof VERSIONS>['data'][number]

const VERBS: Record<Version['kind'], string> = {
  published: 'published',
  restored: 'rolled back',
  found: 'Changed without a draft',
}

function whoAndWhat({ kind, actor, actorName, changed }: Version): string {
  if (kind === 'found' && changed.length === 0) return 'Before the first publication,'
  if (kind === 'found' || actor === null) return VERBS.found
  return `${actorName ?? wordsOfActor(actor)} ${VERBS[kind]}`
}

/** Lists what the agent was, newest first. Each version can be compared with the live agent, and rolled back to. */
export function AgentVersions({ agentId }: { agentId: string }) {
  const [open, setOpen] = useState<Version | null>(null)
  const versions = useInfiniteQuery(listing(VERSIONS, { params: { agentId }, query: { limit: 20 } }))
  return (
    <>
      <Loaded of={versions}>
        {({ pages }) => {
          const all = pages.flatMap(({ data }) => data)
          if (all.length === 0) {
            return (
              <Empty icon={History} title="Nothing was published yet">
                Each publication is kept here, with what was live before it.
              </Empty>
            )
          }
          return (
            <>
              <ul className={classes.rows}>
                {all.map((version) => (
                  <li key={version.id}>
                    <div>
                      {whoAndWhat(version)} <Ago at={version.createdAt} />
                      {version.changed.length > 0 && (
                        <p className={classes.faint}>{version.changed.join(', ')}</p>
                      )}
                    </div>
                    {version.isLive ? (
                      <Badge tone="success">live</Badge>
                    ) : (
                      <Button
                        small
                        kind="quiet"
                        aria-label={`Compare with ${formatTime(version.createdAt)}`}
                        onClick={() => setOpen(version)}
                      >
                        Compare
                      </Button>
                    )}
                  </li>
                ))}
              </ul>
              <ShowMore of={versions} className={classes.more} />
            </>
          )
        }}
      </Loaded>
      {open && <RollBack agentId={agentId} versionId={open.id} onClose={() => setOpen(null)} />}
    </>
  )
}

type RollBackProps = { agentId: string; versionId: string; onClose: () => void }

function RollBack({ agentId, versionId, onClose }: RollBackProps) {
  const params = { agentId, agentVersionId: versionId }
  const version = useQuery({ ...reading(`${VERSIONS}/{agentVersionId}`, { params }), staleTime: 0 })
  const restore = useMutation({
    meta: { quiet: true },
    mutationFn: (shown: string) =>
      call('POST', `${VERSIONS}/{agentVersionId}/restore`, { params, body: { version: shown } }),
    onSuccess: () => {
      tell('done', 'Rolled back. The state before is kept as a version.')
      onClose()
      return Promise.all([draftChanged(), liveChanged()])
    },
    // What is shown may be what has changed.
    onError: () => void liveChanged(),
  })
  return (
    <Dialog title="Roll back to this version?" isOpen onClose={onClose} wide>
      <Loaded of={version}>
        {({ version: shown, changes, missing, missingSources }) => (
          <div className={classes.stack}>
            <p>
              {changes.length === 0
                ? 'The live agent is like this version already.'
                : 'This changes for customers, from the next answer on:'}
            </p>
            {missing.length + missingSources > 0 && (
              <p role="note">
                What has been deleted since does not come back:{' '}
                {[...missing, ...(missingSources > 0 ? [plural(missingSources, 'source')] : [])].join(', ')}.
              </p>
            )}
            <ChangeList agentId={agentId} changes={changes} />
            {restore.error && <FormProblem>{sentenceOf(restore.error)}</FormProblem>}
            <Actions>
              <Button kind="primary" pending={restore.isPending} onClick={() => restore.mutate(shown)}>
                Roll back
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
