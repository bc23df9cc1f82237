import { channelNames } from '../../server/agents/settings/channel-names.ts'

type Customer = { name: string | null; email: string | null; phoneNumber: string | null }

export const CATEGORY = {
  new: ['info', 'New'],
  on_you: ['warning', 'Waiting on us'],
  on_customer: ['neutral', 'Waiting on customer'],
  on_hold: ['neutral', 'On hold'],
  closed: ['success', 'Solved'],
  cancelled: ['neutral', 'Cancelled'],
} as const

export const isOver = ({ statusCategory }: { statusCategory: keyof typeof CATEGORY }): boolean =>
  statusCategory === 'closed' || statusCategory === 'cancelled'

export const nameOf = ({ name, email, phoneNumber }: Customer): string =>
  name ?? email ?? phoneNumber ?? 'Visitor'

const CHANNELS = new Map<string, string>([
  ['helpdesk', 'Help desk'],
  ['iframe', 'Website chat'],
  ['center_stage', 'Website chat'],
  ['api', 'API'],
  ['phone', 'Phone'],
  ...channelNames.map(({ ticket, label }) => [ticket, label] as const),
])

export const channelName = (channel: string): string => CHANNELS.get(channel) ?? channel
