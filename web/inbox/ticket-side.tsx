import { useQuery } from '@tanstack/react-query'
import { call, reading, type Ticket } from '../app/api.ts'
import { SavedSelect } from '../app/saved-select.tsx'
import { useCan, useMember } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { useSaved } from '../app/use-saved.ts'
import { readingConversation } from '../conversations/read-conversation.ts'
import { Button } from '../ui/button.tsx'
import { Select } from '../ui/field.tsx'
import { Hand, Undo2 } from '../ui/icons.ts'
import { tell } from '../ui/toast.tsx'
import { Customer } from './customer.tsx'
import { isThere, presenceWord } from './presence-words.ts'
import { Snooze } from './snooze.tsx'
import { Tags } from './tags.tsx'
import classes from './ticket-side.module.css'
import { isOver } from './ticket-words.ts'
import type { TicketChange } from './use-change.ts'
import { refresh, TICKETS } from './use-live-desk.ts'

const PRIORITIES = [
  ['none', 'None'],
  ['low', 'Low'],
  ['normal', 'Normal'],
  ['high', 'High'],
  ['urgent', 'Urgent'],
] as const
const STATUSES = [
  ['new', 'New'],
  ['on_you', 'Waiting on us'],
  ['on_customer', 'Waiting on customer'],
  ['on_hold', 'On hold'],
  ['closed', 'Solved'],
  ['cancelled', 'Cancelled'],
] as const

type TicketSideProps = {
  agentId: string
  ticket: Ticket
  onChange: (change: TicketChange) => Promise<unknown>
}

/** Shows a ticket's assignee, priority, status and tags, and what is known about the customer. */
export function TicketSide({ agentId, ticket, onChange }: TicketSideProps) {
  const can = useCan()
  const member = useMember()
  const members = useQuery(reading('/agents/{agentId}/helpdesk/members', { params: { agentId } })).data ?? []
  const disabled = !can('helpdesk:write')
  const isListed = members.some(({ id }) => id === ticket.assigneeId)
  const [assigneeId, assign] = useSaved(ticket.assigneeId, (id) => onChange({ assigneeId: id }))
  return (
    <div className={classes.details}>
      <Select
        label="Assigned to"
        disabled={disabled}
        value={assigneeId ?? ''}
        onChoose={(chosen) => assign(chosen || null)}
        options={[
          ['', 'Nobody'],
          ...(ticket.assigneeId && !isListed ? [[ticket.assigneeId, '…'] as const] : []),
          ...members.map(({ id, name, presence }) => {
            const more =
              id === member?.id
                ? ' (you)'
                : isThere(presence)
                  ? ''
                  : ` (${presenceWord(presence).toLowerCase()})`
            return [id, name + more] as const
          }),
        ]}
      />
      {member && !disabled && assigneeId !== member.id && (
        <Button small onClick={() => assign(member.id)}>
          Assign to me
        </Button>
      )}
      <SavedSelect
        label="Status"
        options={STATUSES}
        disabled={disabled}
        value={ticket.statusCategory}
        onSave={(statusCategory) => onChange({ statusCategory })}
      />
      <SavedSelect
        label="Priority"
        options={PRIORITIES}
        disabled={disabled}
        value={ticket.priority}
        onSave={(priority) => onChange({ priority })}
      />
      {!disabled && !isOver(ticket) && <Snooze wakesAt={ticket.wakesAt} onChange={onChange} />}
      <Tags agentId={agentId} ticketNumber={ticket.ticketNumber} disabled={disabled} />
      {ticket.conversationId && !disabled && (
        <Takeover agentId={agentId} conversationId={ticket.conversationId} />
      )}
      <Customer agentId={agentId} ticket={ticket} />
    </div>
  )
}

/** Shows who answers in the ticket's conversation, and lets the user change that. */
function Takeover({ agentId, conversationId }: { agentId: string; conversationId: string }) {
  const params = { agentId, conversationId }
  const member = useMember()
  const { data } = useQuery(readingConversation(agentId, conversationId))
  const options = (done: string) => ({
    onSuccess: () => tell('done', done),
    onSettled: () => refresh('/agents/{agentId}/conversations', TICKETS),
  })
  const takeOver = useMutation({
    mutationFn: () =>
      call('POST', '/agents/{agentId}/conversations/{conversationId}/takeover', {
        params,
        body: member ? { memberId: member.id } : {},
      }),
    ...options('The conversation is yours now.'),
  })
  const handBack = useMutation({
    mutationFn: () => call('POST', '/agents/{agentId}/conversations/{conversationId}/handback', { params }),
    ...options('The agent answers again.'),
  })
  if (data?.status === 'ongoing') {
    return (
      <Button small icon={Hand} pending={takeOver.isPending} onClick={() => takeOver.mutate()}>
        Take over from the agent
      </Button>
    )
  }
  if (data?.status !== 'taken_over') return null
  return (
    <Button small icon={Undo2} pending={handBack.isPending} onClick={() => handBack.mutate()}>
      Hand back to the agent
    </Button>
  )
}
