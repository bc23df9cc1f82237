import Type from 'typebox'
import { Exact, IsoTime, Nullable, OneOf, Subset } from '../../platform/http/contract.ts'
import {
  AiNotice,
  AiNoticeChange,
  AllowedDomain,
  ChannelInstructions,
  CountryCode,
  IpRateLimits,
  IpRateLimitsChange,
  NotificationsSettings,
  SpamSettings,
  SuggestedMessage,
  VoiceSettings,
} from '../settings/settings-schema.ts'
import { Styles } from '../settings/styles-schema.ts'

export const agentStatuses = ['untrained', 'trained', 'training', 'failed'] as const

/** The settings as a client sees and writes them. */
const settings = {
  name: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S', refusal: 'Must not be blank.' }),
  instructions: Type.String({ maxLength: 50_000 }),
  channelInstructions: Nullable(ChannelInstructions),
  model: Type.String({ minLength: 1, maxLength: 200, description: 'An id of the model catalogue, or auto' }),
  temp: Type.Number({ minimum: 0, maximum: 1 }),
  visibility: OneOf(['public', 'private']),
  allowedDomains: Nullable(Type.Array(AllowedDomain, { maxItems: 100 })),
  suggestedMessages: Nullable(Type.Array(SuggestedMessage, { maxItems: 50 })),
  initialMessages: Type.Array(Type.String({ minLength: 1, maxLength: 2_000 }), { maxItems: 20 }),
  creditLimit: Nullable(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
  notificationsSettings: Nullable(NotificationsSettings),
  spamSettings: Nullable(SpamSettings),
  blockedCountries: Nullable(Type.Array(CountryCode, { maxItems: 300 })),
  voiceSettings: Nullable(VoiceSettings),
}

export const Agent = Exact({
  id: Type.String(),
  ...settings,
  ipRateLimits: IpRateLimits,
  aiNotice: AiNotice,
  autoRetrain: Type.Boolean({ description: 'Weekly re-sync' }),
  creditsUsed: Type.Integer({ description: 'This UTC month' }),
  styles: Styles,
  createdAt: IsoTime,
  lastMessageAt: Nullable(IsoTime),
  lastTrainedAt: Nullable(IsoTime),
  status: OneOf(agentStatuses, { description: 'Follows from the sources' }),
  size: Type.Integer({ description: 'Bytes of training data' }),
})

/** The members of an agent that can be changed. */
export const agentSettings = [...Object.keys(settings), 'ipRateLimits', 'autoRetrain', 'styles']

export const CreateAgent = Exact({
  name: settings.name,
  url: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048, description: 'Seeds a link source' })),
  instructions: Type.Optional(settings.instructions),
  model: Type.Optional(settings.model),
  temp: Type.Optional(settings.temp),
  visibility: Type.Optional(settings.visibility),
})

/** Omitted: unchanged. Sent: replaced. null: disabled, or back to the default. */
export const UpdateAgent = Subset(
  Exact({ ...settings, ipRateLimits: Nullable(IpRateLimitsChange), aiNotice: Nullable(AiNoticeChange) }),
)

export const CreatedAgent = Exact({
  id: Type.String(),
  pendingSteps: Type.Optional(Type.Array(OneOf(['ADD_SOURCE', 'TRAIN_AGENT']))),
})
