import type { ChannelName } from '../../platform/db/tables/channels.ts'
import type { channels } from './settings-schema.ts'

type Names = {
  /** The value of conversations.source. */
  source: string
  /** The name that `channelInstructions` and the `channels` of actions use. */
  settings: (typeof channels)[number]
  /** The channel of its tickets. */
  ticket: string
  /** The name in the workspace. */
  label: string
}

/** The names of the channels on which people write from outside of the website. */
export const CHANNEL_NAMES = {
  messaging: { source: 'Messaging', settings: 'messaging', ticket: 'messaging', label: 'Messaging' },
  email: { source: 'Email', settings: 'email', ticket: 'email', label: 'Email' },
} as const satisfies Record<ChannelName, Names>

export const channelNames = Object.values(CHANNEL_NAMES)
