import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import agents from '../agents/agents.module.css'
import { type Agent, call, type OutputOf, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Badge, Section } from '../ui/page.tsx'
import { tell } from '../ui/toast.tsx'
import { SAVED_UNREAD, useAnsweringModel } from './answering-model.tsx'
import { Diff } from './diff.tsx'

const PATH = '/agents/{agentId}/instructions/versions'
type Version = OutputOf<'GET', typeof PATH>['data'][number]

/** Lists the earlier versions of the instructions; each can be compared and restored. */
export function Versions({ agent }: { agent: Agent }) {
  const [open, setOpen] = useState<Version | null>(null)
  const { data } = useQuery(reading(PATH, { params: { agentId: agent.id }, query: { limit: 20 } }))
  const { isBuiltin } = useAnsweringModel(open?.model ?? agent.model)
  const restore = useMutation({
    mutationFn: ({ id: versionId }: Version) =>
      call('POST', `${PATH}/{versionId}/restore`, { params: { agentId: agent.id, versionId } }),
    onSuccess: () => {
      tell('done', isBuiltin ? SAVED_UNREAD : 'The next answer follows it again.')
      setOpen(null)
      void fetchAgain(PATH)
      return fetchAgain('/agents/{agentId}')
    },
  })
  if (!data || data.data.length < 2) return null
  return (
    <Section title="Versions" about="The last changes, newest first.">
      <ul className={agents.rows}>
        {data.data.map((version, at) => (
          <li key={version.id}>
            <span>
              <Ago at={version.createdAt} /> · {version.model}, temperature {version.temp}
            </span>
            {at === 0 ? (
              <Badge tone="accent">in use</Badge>
            ) : (
              <Button small kind="quiet" onClick={() => setOpen(version)}>
                Compare
              </Button>
            )}
          </li>
        ))}
      </ul>
      {open && (
        <Dialog title="From the version in use to this one" isOpen onClose={() => setOpen(null)} wide>
          <div className={agents.steps}>
            <Diff before={agent.instructions} after={open.instructions} />
            <div>
              <Button kind="primary" pending={restore.isPending} onClick={() => restore.mutate(open)}>
                Restore this version
              </Button>
            </div>
          </div>
        </Dialog>
      )}
    </Section>
  )
}
