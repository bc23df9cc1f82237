import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { call, reading } from '../app/api.ts'
import { useCan, useMember } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Menu } from '../ui/menu.tsx'
import classes from './inbox.module.css'
import { isThere, presenceWord } from './presence-words.ts'
import { refresh } from './use-live-desk.ts'

/** Presence expires after 15 minutes, so it is reported again before that. */
const AGAIN_MS = 10 * 60_000
/** The clock of this computer may be wrong. */
const MIN_MS = 60_000

/** Shows whether the member is assigned new tickets, and lets the member change that. */
export function Presence({ agentId }: { agentId: string }) {
  const can = useCan()
  const member = useMember()
  const { data } = useQuery(reading('/agents/{agentId}/helpdesk/members', { params: { agentId } }))
  const { presence: now, lastSeenAt } = data?.find(({ id }) => id === member?.id) ?? {}
  const say = useMutation({
    mutationFn: (presence: 'online' | 'away') =>
      call('PUT', '/members/{memberId}/presence', {
        params: { memberId: member?.id ?? '' },
        body: { presence },
      }),
    onSettled: () => refresh('/agents/{agentId}/helpdesk/members'),
  })
  const again = say.mutate
  useEffect(() => {
    if (now === undefined || now === 'offline' || !lastSeenAt) return
    const wait = Math.max(MIN_MS, Date.parse(lastSeenAt) + AGAIN_MS - Date.now())
    const timer = setInterval(() => again(now), wait)
    return () => clearInterval(timer)
  }, [now, lastSeenAt, again])
  if (!now || !can('helpdesk:write')) return null
  return (
    <Menu
      label={`You are ${presenceWord(now).toLowerCase()}`}
      className={classes.presence}
      choices={(['online', 'away'] as const).map((presence) => ({
        id: presence,
        label: presenceWord(presence),
        hint: presence === 'online' ? 'New tickets come to you' : 'New tickets go to others',
        chosen: isThere(now) === isThere(presence),
        onChoose: () => say.mutate(presence),
      }))}
    >
      <span className={`${classes.light} ${isThere(now) ? classes.lit : ''}`} aria-hidden />
      {presenceWord(now)}
    </Menu>
  )
}
