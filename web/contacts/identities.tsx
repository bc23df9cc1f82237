import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import agents from '../agents/agents.module.css'
import { call, type OutputOf, reading } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { Badge, Section } from '../ui/page.tsx'
import { tell } from '../ui/toast.tsx'

const PATH = '/agents/{agentId}/contacts/{contactId}/identities'
type Identity = OutputOf<'GET', typeof PATH>['data'][number]

const KINDS: Record<string, string> = { phone: 'Number', user: 'ID', parent_user: 'Shared ID' }

type IdentitiesProps = { agentId: string; contactId: string; onSeparated: () => void }

/** Lists what channels call a person. One that was joined by mistake can be given back a contact of its own. */
export function Identities({ agentId, contactId, onSeparated }: IdentitiesProps) {
  const can = useCan()
  const [asked, setAsked] = useState<Identity | null>(null)
  const found = useQuery(reading(PATH, { params: { agentId, contactId } }))
  const separate = useMutation({
    mutationFn: (identityId: string) =>
      call('POST', `${PATH}/{identityId}/separate`, { params: { agentId, contactId, identityId } }),
    onSuccess: () => {
      tell('done', 'The two are separate contacts now, and stay so.')
      void queries.invalidateQueries()
      setAsked(null)
      onSeparated()
    },
  })
  const all = found.data?.data ?? []
  if (all.length === 0) return null
  return (
    <Section
      title="Known on messaging as"
      about="The channel itself has said that these are one person. Names are never compared."
    >
      <ul className={agents.rows}>
        {all.map((identity) => (
          <li key={identity.id}>
            <span>
              {KINDS[identity.kind] ?? identity.kind} <bdi>{identity.value}</bdi>
              {identity.username && (
                <>
                  {' '}
                  (<bdi>@{identity.username}</bdi>)
                </>
              )}{' '}
              {identity.replacedAt && <Badge tone="neutral">No longer used</Badge>}
            </span>
            {all.length > 1 && can('conversations:write') && (
              <Button small aria-label={`Separate ${identity.value}`} onClick={() => setAsked(identity)}>
                Separate
              </Button>
            )}
          </li>
        ))}
      </ul>
      {asked && (
        <Confirm
          title={`Separate ${asked.value}?`}
          action="Separate"
          pending={separate.isPending}
          onConfirm={() => separate.mutate(asked.id)}
          onClose={() => setAsked(null)}
        >
          It becomes a contact of its own, with the conversations that were held under it. What the channel
          says later does not join the two again.
        </Confirm>
      )}
    </Section>
  )
}
