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
import { Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'

const PATH = '/agents/{agentId}/email/silent'
type Found = OutputOf<'GET', typeof PATH>
type Mail = Found['data'][number]

const REASONS: Record<Mail['reason'], string> = {
  automatic: 'A program wrote it',
  list: 'Came through a mailing list',
  old: 'Older than the connection, or than three days',
  answered: 'Was already answered in a mail client',
  own: 'Sent from the address of the mailbox',
  noSender: 'Has no address to answer',
  tooMany: 'More mails than a person sends',
  repetitive: 'Looks like an automatic reply',
  blocked: 'The sender is blocked',
}

/** Lists the mails that were stored without an answer, with the reason and what a member can do about it. */
export function SilentMails({ agentId }: { agentId: string }) {
  const can = useCan()
  const found = useQuery({ ...reading(PATH, { params: { agentId } }), enabled: can('conversations:read') })
  if (!can('conversations:read')) return null
  return (
    <Section
      title="Not answered"
      about="These emails were stored without an answer, for the reason given. The counts are those of the last 30 days."
    >
      <Loaded of={found}>{(data) => <List agentId={agentId} {...data} />}</Loaded>
    </Section>
  )
}

function List({ agentId, data, counts }: Found & { agentId: string }) {
  if (data.length === 0) return <p>Every email so far was one to answer.</p>
  return (
    <>
      {counts.length > 0 && (
        <p>{counts.map(({ reason, count }) => `${REASONS[reason]}: ${count}`).join(' · ')}</p>
      )}
      <Table stacked label="Not answered" head={['Email', 'Why', 'When', <Hidden key="a">Actions</Hidden>]}>
        {data.map((mail) => (
          <tr key={mail.id}>
            <td>
              <What agentId={agentId} mail={mail} />
            </td>
            <td>{REASONS[mail.reason]}</td>
            <td>
              <Ago at={mail.receivedAt} />
            </td>
            <td>
              <Choices agentId={agentId} mail={mail} />
            </td>
          </tr>
        ))}
      </Table>
    </>
  )
}

function What({
  agentId,
  mail: { from, fromName, subject, conversationId },
}: {
  agentId: string
  mail: Mail
}) {
  const title = subject || 'No subject'
  return (
    <>
      {conversationId ? (
        <Link
          to="/agents/$agentId/conversations"
          params={{ agentId }}
          search={{ open: conversationId } as never}
        >
          <bdi>{title}</bdi>
        </Link>
      ) : (
        <bdi>{title}</bdi>
      )}
      <br />
      <small>
        <bdi style={{ overflowWrap: 'anywhere' }}>
          {fromName ? `${fromName} ` : ''}
          {from ?? 'No sender'}
        </bdi>
      </small>
    </>
  )
}

function Choices({ agentId, mail }: { agentId: string; mail: Mail }) {
  const can = useCan()
  const act = useMutation({
    mutationFn: (what: 'answer' | 'ticket') =>
      call('POST', `${PATH}/{mailId}/${what}`, { params: { agentId, mailId: mail.id } }),
    onSuccess: (_, what) =>
      tell('done', what === 'answer' ? 'The agent answers in a moment.' : 'The email is a ticket now.'),
    onSettled: () => fetchAgain(PATH),
  })
  const about = mail.subject || mail.from || 'this email'
  return (
    <>
      {can('messaging:write') && mail.from && mail.reason !== 'noSender' && (
        <Button
          small
          pending={act.isPending}
          aria-label={`Let the agent answer ${about}`}
          onClick={() => act.mutate('answer')}
        >
          Answer
        </Button>
      )}{' '}
      {can('helpdesk:write') && (
        <Button
          small
          pending={act.isPending}
          aria-label={`Make a ticket of ${about}`}
          onClick={() => act.mutate('ticket')}
        >
          Ticket
        </Button>
      )}
    </>
  )
}
