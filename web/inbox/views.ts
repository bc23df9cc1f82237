const OPEN = 'new,on_you,on_customer,on_hold'

export const VIEWS = [
  ['mine', 'Mine'],
  ['unassigned', 'Unassigned'],
  ['mentions', 'Mentions'],
  ['open', 'Open'],
  ['snoozed', 'Snoozed'],
  ['solved', 'Solved'],
  ['spam', 'Spam'],
] as const
export type View = (typeof VIEWS)[number][0]

/** Returns the part of the list's query that makes up a view of a member. */
export function filterOf(view: View, memberId: string | undefined) {
  switch (view) {
    case 'mine':
      return { status: OPEN, snoozed: false, assigneeId: memberId }
    case 'unassigned':
      return { status: OPEN, snoozed: false, assigneeId: 'none' }
    case 'snoozed':
      return { snoozed: true }
    case 'mentions':
      return { status: OPEN, mentionedId: memberId }
    case 'spam':
      return { spam: true }
    case 'solved':
      return { status: 'closed,cancelled' }
    default:
      return { status: OPEN, snoozed: false }
  }
}
