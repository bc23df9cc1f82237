type Customer = { name: string | null; email: string | null; phoneNumber: string | null }

export const CATEGORY = {
  new: ['info', 'New'],
  on_you: ['warning', 'Waits for us'],
  on_customer: ['neutral', 'Waits for them'],
  on_hold: ['neutral', 'On hold'],
  closed: ['success', 'Solved'],
  cancelled: ['neutral', 'Cancelled'],
} as const

export const nameOf = ({ name, email, phoneNumber }: Customer): string =>
  name ?? email ?? phoneNumber ?? 'Visitor'
