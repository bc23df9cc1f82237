import { formatTime } from '../ui/format.ts'
import { CATEGORY } from './ticket-words.ts'

type EventData = {
  eventType?: string
  statusTo?: keyof typeof CATEGORY
  assignedTo?: { name?: string | null } | null
  doneBy?: { name?: string | null } | null
  priorityTo?: string
  wakesAt?: string
}

/** Describes an event of a ticket in a few words. */
export function eventWords(metadata: unknown): string {
  const { eventType, statusTo, assignedTo, doneBy, priorityTo, wakesAt } = (metadata ?? {}) as EventData
  const by = doneBy?.name ? ` by ${doneBy.name}` : ''
  switch (eventType) {
    case 'status_change':
      return `Status ${statusTo ? `set to “${CATEGORY[statusTo][1]}”` : 'changed'}${by}`
    case 'assign':
      return assignedTo?.name ? `Assigned to ${assignedTo.name}${by}` : `Unassigned${by}`
    case 'priority_changed':
      return `Priority ${priorityTo ? `set to ${priorityTo}` : 'changed'}${by}`
    case 'snoozed':
      return `Snoozed${wakesAt ? ` until ${formatTime(wakesAt)}` : ''}${by}`
    default:
      return `${(eventType ?? 'changed').replaceAll('_', ' ')}${by}`
  }
}
