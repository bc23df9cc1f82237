import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { call, reading } from '../app/api.ts'
import { useCan, useMember } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Menu } from '../ui/menu.tsx'
import classes from './inbox.module.css'
import { refresh } from './use-live-desk.ts'

/** Presence expires after 15 minutes, so it is reported again before that. */
const AGAIN_MS = 10 * 60_000
const WORDS = { online: 'Available', away: 'Away', offline: 'Offline' } as const

/** Shows whether the member is assigned new tickets, and lets the member change that. */
export function Presence({ agentId }: { agentId: string }) {
  const can = useCan()
  const member = useMember()
  const { data } = useQuery(reading('/agents/{agentId}/helpdesk/members', { params: { agentId } }))
  const now = data?.find(({ id }) => id === member?.id)?.presence
  const say = useMutation({
    mutationFn: (presence: keyof typeof WORDS) =>
      call('PUT', '/members/{memberId}/presence', {
        params: { memberId: member?.id ?? '' },
        body: { presence },
      }),
    onSettled: () => refresh('/agents/{agentId}/helpdesk/members'),
  })
  const again = say.mutate
  useEffect(() => {
    if (now !== 'online') return
    const timer = setInterval(() => again('online'), AGAIN_MS)
    return () => clearInterval(timer)
  }, [now, again])
  if (!now || !can('helpdesk:write')) return null
  return (
    <Menu
      label={`You are ${WORDS[now].toLowerCase()}`}
      className={classes.presence}
      choices={(['online', 'away'] as const).map((presence) => ({
        id: presence,
        label: WORDS[presence],
        hint: presence === 'online' ? 'New tickets come to you' : 'New tickets go to others',
        chosen: now === presence,
        onChoose: () => say.mutate(presence),
      }))}
    >
      <span className={`${classes.light} ${now === 'online' ? classes.lit : ''}`} aria-hidden />
      {WORDS[now]}
    </Menu>
  )
}
