import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { call, type OutputOf, reading } from '../app/api.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { sentenceOf } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import classes from './composer.module.css'
import { refresh, TICKETS } from './use-live-desk.ts'

export const HELD = '/agents/{agentId}/helpdesk/tickets/{ticketNumber}/held-replies'
/** How long a reply can be taken back. */
export const HOLD_SECONDS = 10

export type HeldReply = OutputOf<'GET', typeof HELD>[number]
type HeldRepliesProps = {
  params: { agentId: string; ticketNumber: number }
  onBack: (reply: HeldReply) => void
}

/** Shows the replies that are about to be sent, with a button to take each back. */
export function HeldReplies({ params, onBack }: HeldRepliesProps) {
  const held = useQuery({
    ...reading(HELD, { params }),
    // The one that was sent leaves the list, also where the help desk's events do not arrive.
    refetchInterval: ({ state }) => (state.data?.length ? 2_000 : false),
  })
  const count = held.data?.length ?? 0
  const [before, setBefore] = useState(count)
  useEffect(() => {
    if (count < before) refresh(TICKETS)
    setBefore(count)
  }, [count, before])
  return (
    <div role="status">
      {held.data?.map((reply) => (
        <HeldReplyLine key={reply.id} params={params} reply={reply} onBack={onBack} />
      ))}
    </div>
  )
}

function HeldReplyLine({ params, reply, onBack }: HeldRepliesProps & { reply: HeldReply }) {
  const takeBack = useMutation({
    meta: { quiet: true },
    mutationFn: () =>
      call('DELETE', `${HELD}/{heldReplyId}`, { params: { ...params, heldReplyId: reply.id } }),
    onSuccess: onBack,
    onError: (error) => tell('problem', sentenceOf(error)),
    onSettled: () => refresh(TICKETS),
  })
  return (
    <HeldLine
      what="reply"
      quote={reply.content.slice(0, 80)}
      error={reply.error}
      isPending={takeBack.isPending}
      onBack={() => takeBack.mutate()}
    />
  )
}

type HeldLineProps = {
  what: string
  quote: string
  error: string | null
  isPending: boolean
  onBack: () => void
}

/** What is about to be sent, or could not be. */
export const HeldLine = ({ what, quote, error, isPending, onBack }: HeldLineProps) => (
  <div className={classes.held}>
    <p>
      {error === null ? `Sending the ${what}` : `The ${what} was not sent: ${error}`}
      <q>{quote}</q>
    </p>
    <Button small pending={isPending} onClick={onBack}>
      {error === null ? 'Undo' : 'Back to the text'}
    </Button>
  </div>
)
