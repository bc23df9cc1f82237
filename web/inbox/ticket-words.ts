type Customer = { name: string | null; email: string | null; phoneNumber: string | null }

export const CATEGORY = {
  new: ['info', 'New'],
  on_you: ['warning', 'Waiting on us'],
  on_customer: ['neutral', 'Waiting on customer'],
  on_hold: ['neutral', 'On hold'],
  closed: ['success', 'Solved'],
  cancelled: ['neutral', 'Cancelled'],
} as const

export const nameOf = ({ name, email, phoneNumber }: Customer): string =>
  name ?? email ?? phoneNumber ?? 'Visitor'

const CHANNELS: Record<string, string> = {
  helpdesk: 'help desk',
  iframe: 'website chat',
  center_stage: 'website chat',
  api: 'API',
}

export const channelName = (channel: string): string => CHANNELS[channel] ?? channel.replaceAll('_', ' ')
