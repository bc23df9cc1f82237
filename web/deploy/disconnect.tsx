import type { ReactNode } from 'react'
import { call } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Confirm } from '../ui/confirm.tsx'
import { tell } from '../ui/toast.tsx'

type Props = {
  path: '/agents/{agentId}/email/connection' | '/agents/{agentId}/messaging/connection'
  agentId: string
  title: string
  /** What is said when it is done. */
  done: string
  onDone: () => void
  onClose: () => void
  children: ReactNode
}

/** Asks whether a channel is to be disconnected, and disconnects it. */
export function Disconnect({ path, agentId, title, done, onDone, onClose, children }: Props) {
  const disconnect = useMutation({
    mutationFn: () => call('DELETE', path, { params: { agentId } }),
    onSuccess: () => {
      onClose()
      tell('done', done)
      onDone()
      return fetchAgain(path)
    },
  })
  return (
    <Confirm
      title={title}
      action="Disconnect"
      pending={disconnect.isPending}
      onConfirm={() => disconnect.mutate()}
      onClose={onClose}
    >
      {children}
    </Confirm>
  )
}
