import { channelNames } from '../../server/agents/settings/channel-names.ts'
import type { Agent } from '../app/api.ts'
import type { Draft } from './use-chat.ts'

/** The settings of a run that can be saved to the agent. */
export type Settings = { instructions: string; model: string; temp: string }

export const settingsOf = ({ instructions, model, temp }: Agent): Settings => ({
  instructions,
  model,
  temp: String(temp),
})

export const draftOf = ({ instructions, model, temp }: Settings): Draft => ({
  instructions,
  model,
  temp: Number(temp),
})

export const isSame = (one: Settings, other: Settings): boolean =>
  one.instructions === other.instructions && one.model === other.model && one.temp === other.temp

type Channel = NonNullable<Draft['channel']>

export const CHANNELS: readonly (readonly [Channel, string])[] = [
  ['chat_widget', 'Website chat'],
  ['help_page', 'Agent page'],
  ['center_stage', 'Centre stage'],
  ['side_panel', 'Side panel'],
  ...channelNames.map(({ settings, label }) => [settings, label] as const),
  ['api', 'API'],
  ['android_sdk', 'Android app'],
  ['ios_sdk', 'iOS app'],
  ['phone', 'Phone'],
  ['search', 'Search'],
]
