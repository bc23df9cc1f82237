import { useEffect } from 'react'
import { call, type Message } from '../app/api.ts'
import { useCan, useMember } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { type HeldOutcome, heldWords, UngroundedMark } from '../conversations/message-view.tsx'
import { Button } from '../ui/button.tsx'
import { createStore } from '../ui/store.ts'
import classes from './thread.module.css'
import { refresh, TICKETS } from './use-live-desk.ts'

export type Held = {
  messageId: string
  ungrounded: NonNullable<NonNullable<Message['metadata']>['ungrounded']>
  outcome?: HeldOutcome
}

type Proposed = { ticketNumber: number; text: string; noteId: string }

/** A text that the composer of a ticket is to take over. */
const proposedReply = createStore<Proposed | null>(null)

/** Takes over each text that is proposed as a reply of the ticket, once. */
export function useProposed(ticketNumber: number, take: (proposed: Proposed) => void): void {
  const proposed = proposedReply.use()
  // biome-ignore lint/correctness/useExhaustiveDependencies: each proposal is taken over once
  useEffect(() => {
    if (proposed?.ticketNumber !== ticketNumber) return
    proposedReply.set(null)
    take(proposed)
  }, [proposed])
}

const DISCARD = '/agents/{agentId}/helpdesk/tickets/{ticketNumber}/messages/{messageId}/discard'

type HeldAnswerProps = { agentId: string; ticketNumber: number; noteId: string; text: string; held: Held }

/** Says why an answer of the agent was held, and lets a member send it, as it is or changed, or discard it. */
export function HeldAnswer({ agentId, ticketNumber, noteId, text, held }: HeldAnswerProps) {
  const can = useCan()
  const member = useMember()
  const discard = useMutation({
    mutationFn: () =>
      call('POST', DISCARD, {
        params: { agentId, ticketNumber, messageId: noteId },
        body: member ? { authorId: member.id } : {},
      }),
    onSettled: () => refresh(TICKETS),
  })
  const { outcome } = held
  const mayBeSent = outcome === undefined || outcome.what === 'discarded'
  return (
    <>
      <UngroundedMark values={held.ungrounded} />
      {outcome ? (
        <p>{heldWords(outcome)}</p>
      ) : (
        <p>It was not sent. The customer read that your team will answer.</p>
      )}
      {mayBeSent && can('helpdesk:write') && (
        <div className={classes.buttons}>
          <Button small onClick={() => proposedReply.set({ ticketNumber, text, noteId })}>
            Use as reply
          </Button>
          {!outcome && (
            <Button small kind="quiet" pending={discard.isPending} onClick={() => discard.mutate()}>
              Discard
            </Button>
          )}
        </div>
      )}
    </>
  )
}
