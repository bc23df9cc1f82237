import { useQuery } from '@tanstack/react-query'
import { reading } from '../app/api.ts'
import { useMember } from '../app/session.ts'
import { User, UserCheck, UserX } from '../ui/icons.ts'
import { Picker } from '../ui/picker.tsx'
import { presenceWord } from './presence-words.ts'

type AssignProps = { agentId: string; onChoose: (memberId: string | null) => void; onClose: () => void }

/** Assigns a ticket to a member, who is found by a few letters; the first one is the user. */
export function Assign({ agentId, onChoose, onClose }: AssignProps) {
  const own = useMember()?.id
  const members = useQuery(reading('/agents/{agentId}/helpdesk/members', { params: { agentId } })).data
  const inOrder = members?.toSorted((a, b) => Number(b.id === own) - Number(a.id === own))
  return (
    <Picker
      title="Assign"
      label="Assign to"
      listLabel="Members"
      onClose={onClose}
      entries={
        inOrder && [
          ...inOrder.map(({ id, name, presence, openTickets }) => ({
            id,
            label: id === own ? `${name} (you)` : name,
            group: `${presenceWord(presence)} · ${openTickets} open`,
            icon: id === own ? UserCheck : User,
            run: () => onChoose(id),
          })),
          { id: 'none', label: 'Nobody', group: '', icon: UserX, run: () => onChoose(null) },
        ]
      }
    />
  )
}
