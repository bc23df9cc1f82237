import { useEffect } from 'react'
import type { Message } from '../app/api.ts'
import { useCan } from '../app/session.ts'
import { UngroundedMark } from '../conversations/message-view.tsx'
import { Button } from '../ui/button.tsx'
import { createStore } from '../ui/store.ts'

export type Held = {
  messageId: string
  ungrounded: NonNullable<NonNullable<Message['metadata']>['ungrounded']>
}

/** A text that the composer of a ticket is to take over. */
const proposedReply = createStore<{ ticketNumber: number; text: string } | null>(null)

/** Takes over each text that is proposed as a reply of the ticket, once. */
export function useProposed(ticketNumber: number, take: (text: string) => void): void {
  const proposed = proposedReply.use()
  // biome-ignore lint/correctness/useExhaustiveDependencies: each proposal is taken over once
  useEffect(() => {
    if (proposed?.ticketNumber !== ticketNumber) return
    proposedReply.set(null)
    take(proposed.text)
  }, [proposed])
}

type HeldAnswerProps = { ticketNumber: number; text: string; held: Held }

/** Says why an answer of the agent was held, and lets a member send it, as it is or changed. */
export function HeldAnswer({ ticketNumber, text, held }: HeldAnswerProps) {
  const can = useCan()
  return (
    <>
      <UngroundedMark values={held.ungrounded} />
      <p>It was not sent. The customer read that your team will answer.</p>
      {can('helpdesk:write') && (
        <Button small onClick={() => proposedReply.set({ ticketNumber, text })}>
          Use as reply
        </Button>
      )}
    </>
  )
}
