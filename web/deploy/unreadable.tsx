import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call, type OutputOf, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { Hidden } from '../ui/hidden.tsx'
import { Section, Table } from '../ui/page.tsx'

const PATH = '/agents/{agentId}/messaging/unreadable'
type Event = OutputOf<'GET', typeof PATH>['data'][number]

export const readingUnreadable = (agentId: string) => reading(PATH, { params: { agentId } })

const NAMES: Record<string, string> = {
  type: 'Type of message',
  group: 'Group message',
  without_sender: 'No sender',
  without_id: 'No id',
  account: 'No account',
  number: 'Number not connected',
  field: 'Unused subscription',
  status: 'Unknown state',
  error: 'Error of the account',
}

/** Lists what the channel delivered and nobody could read, and what to do about it. */
export function Unreadable({ agentId }: { agentId: string }) {
  const can = useCan()
  const found = useQuery({ ...readingUnreadable(agentId), enabled: can('messaging:read') })
  const events = found.data?.data ?? []
  const remove = useMutation({
    mutationFn: (eventId: string) => call('DELETE', `${PATH}/{eventId}`, { params: { agentId, eventId } }),
    onSettled: () => fetchAgain(PATH),
  })
  if (events.length === 0) return null
  return (
    <Section
      title="Could not be read"
      about="WhatsApp delivered these and does not send them again. Remove what you have dealt with."
    >
      <Table
        stacked
        label="Could not be read"
        head={['What', 'When', 'What to do', <Hidden key="a">Actions</Hidden>]}
      >
        {events.map((event) => (
          <tr key={event.id}>
            <td>
              <What event={event} agentId={agentId} />
            </td>
            <td>
              <Ago at={event.lastAt} />
              {event.count > 1 && ` (${event.count}×)`}
            </td>
            <td>{event.whatToDo}</td>
            <td>
              {can('messaging:write') && (
                <Button
                  small
                  aria-label={`Remove ${event.reference}`}
                  onClick={() => remove.mutate(event.id)}
                >
                  Remove
                </Button>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  )
}

function What({ event, agentId }: { event: Event; agentId: string }) {
  const { kind, detail, reference, conversationId } = event
  return (
    <>
      {NAMES[kind] ?? kind}
      {detail && (
        <>
          : <bdi>{detail}</bdi>
        </>
      )}
      <br />
      <small>
        <bdi style={{ overflowWrap: 'anywhere' }}>{reference}</bdi>
      </small>
      {conversationId && (
        <>
          <br />
          <Link
            to="/agents/$agentId/conversations"
            params={{ agentId }}
            search={{ open: conversationId } as never}
          >
            The conversation
          </Link>
        </>
      )}
    </>
  )
}
