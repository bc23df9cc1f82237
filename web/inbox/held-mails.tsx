import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { call, reading } from '../app/api.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { sentenceOf } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import { ForwardDialog } from './forward.tsx'
import { HELD_MAILS, type HeldMail } from './held-mail.ts'
import { HeldLine } from './held-replies.tsx'
import classes from './inbox.module.css'
import { NewMailDialog } from './new-mail.tsx'
import { refresh, TICKETS } from './use-live-desk.ts'

/** Shows the new mails and forwards that are about to be sent, with a button to take each back into its form. */
export function HeldMails({ agentId }: { agentId: string }) {
  const can = useCan()
  const [back, setBack] = useState<HeldMail | null>(null)
  const held = useQuery({
    ...reading(HELD_MAILS, { params: { agentId } }),
    enabled: can('helpdesk:write'),
    // The one that was sent leaves the list.
    refetchInterval: ({ state }) => (state.data?.length ? 2_000 : false),
  })
  const count = held.data?.length ?? 0
  const [before, setBefore] = useState(count)
  useEffect(() => {
    if (count < before) refresh(TICKETS)
    setBefore(count)
  }, [count, before])
  const close = (): void => setBack(null)
  const isForward = back?.kind === 'forward' && back.ticketNumber !== null
  return (
    <>
      <div role="status" className={classes.heldMails}>
        {held.data?.map((mail) => (
          <HeldMailLine key={mail.id} agentId={agentId} mail={mail} onBack={setBack} />
        ))}
      </div>
      {back && !isForward && <NewMailDialog agentId={agentId} isOpen start={back} onClose={close} />}
      {back && isForward && (
        <ForwardDialog
          agentId={agentId}
          ticketNumber={Number(back.ticketNumber)}
          messageId={back.messageId}
          isOpen
          start={back}
          onClose={close}
        />
      )}
    </>
  )
}

type HeldMailLineProps = { agentId: string; mail: HeldMail; onBack: (mail: HeldMail) => void }

function HeldMailLine({ agentId, mail, onBack }: HeldMailLineProps) {
  const takeBack = useMutation({
    meta: { quiet: true },
    mutationFn: () =>
      call('DELETE', `${HELD_MAILS}/{heldMailId}`, { params: { agentId, heldMailId: mail.id } }),
    onSuccess: onBack,
    onError: (error) => tell('problem', sentenceOf(error)),
    onSettled: () => refresh(HELD_MAILS),
  })
  const { kind, ticketNumber, subject, to = [], error } = mail
  return (
    <HeldLine
      what={kind === 'forward' ? `forward of ticket ${ticketNumber}` : 'email'}
      quote={[subject, to.join(', ')].filter(Boolean).join(' to ')}
      error={error}
      isPending={takeBack.isPending}
      onBack={() => takeBack.mutate()}
    />
  )
}
