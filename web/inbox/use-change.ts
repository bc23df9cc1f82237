import { call, reading, type Ticket } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { sentenceOf } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import { refresh, TICKETS } from './use-live-desk.ts'

export type TicketChange = {
  statusCategory?: Ticket['statusCategory']
  assigneeId?: string | null
  priority?: Ticket['priority']
  /** Until when it is snoozed; null ends that. */
  wakesAt?: string | null
}

/**
 * Changes a ticket. The change is shown at once and reverted if the request fails. Changes in a row are sent one after
 * the other, so that the last one is stored.
 */
export function useChange(params: { agentId: string; ticketNumber: number }) {
  const path = '/agents/{agentId}/helpdesk/tickets/{ticketNumber}'
  const { queryKey } = reading(path, { params })
  const mutationKey = [path, params]
  return useMutation({
    mutationKey,
    scope: { id: `${path} ${params.agentId} ${params.ticketNumber}` },
    mutationFn: (body: TicketChange) => call('PATCH', path, { params, body }),
    onMutate: (body) => {
      const before = queries.getQueryData<Ticket>(queryKey)
      const { wakesAt, ...rest } = body
      if (before) queries.setQueryData(queryKey, { ...before, ...rest, ...(wakesAt ? { wakesAt } : {}) })
      return before
    },
    // The pane of the ticket may be gone by then, since solving it opens the next one.
    onSuccess: (_ticket, { statusCategory }, before) => {
      if (statusCategory !== 'closed') return
      tell('done', `Ticket #${params.ticketNumber} is solved.`, {
        label: 'Undo',
        run: () => void openAgain(params, before?.statusCategory ?? 'on_you'),
      })
    },
    onError: (_error, _body, before) => queries.setQueryData(queryKey, before),
    // The stored state before the last of several changes would undo the others.
    onSettled: () => {
      if (queries.isMutating({ mutationKey }) === 1) refresh(TICKETS, '/agents/{agentId}/conversations')
    },
  })
}

async function openAgain(
  params: { agentId: string; ticketNumber: number },
  statusCategory: Ticket['statusCategory'],
): Promise<void> {
  await call('PATCH', '/agents/{agentId}/helpdesk/tickets/{ticketNumber}', {
    params,
    body: { statusCategory },
  }).catch((error: unknown) => tell('problem', sentenceOf(error)))
  refresh(TICKETS)
}
