import Type from 'typebox'
import { Exact, Nullable, OneOf, Subset, TaggedUnion } from '../../platform/http/contract.ts'
import { countryCodes } from './country-codes.ts'

const Email = Type.String({ format: 'email', maxLength: 254, refusal: 'Must be an e-mail address.' })
const Text = (maxLength: number) => Type.String({ maxLength })

export const channels = [
  'chat_widget',
  'help_page',
  'center_stage',
  'side_panel',
  'messaging',
  'api',
  'email',
  'android_sdk',
  'ios_sdk',
  'phone',
  'search',
] as const

/** A string, or one text for chat and one for voice. */
const ChannelInstruction = Type.Unsafe<string | { chat?: string; voice?: string }>({
  type: ['string', 'object'],
  maxLength: 50_000,
  properties: { chat: Text(50_000), voice: Text(50_000) },
  additionalProperties: false,
})

export const ChannelInstructions = Exact(
  Object.fromEntries(channels.map((channel) => [channel, Type.Optional(ChannelInstruction)])),
)

const suggestion = {
  text: Type.String({ minLength: 1, maxLength: 500 }),
  order: Type.Number(),
  icon: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 100,
        description: 'An emoji, which the widget shows; a name of an icon is kept',
      }),
    ),
  ),
}

export const SuggestedMessage = TaggedUnion('type', [
  Exact({ type: Type.Literal('single'), ...suggestion }),
  Exact({
    type: Type.Literal('nested'),
    name: Type.String({ minLength: 1, maxLength: 100 }),
    order: suggestion.order,
    icon: suggestion.icon,
    items: Type.Array(Exact(suggestion), { minItems: 1, maxItems: 20 }),
  }),
])

const Notification = Exact({ active: Type.Boolean(), emails: Type.Array(Email, { maxItems: 10 }) })

export const NotificationsSettings = Exact({
  dailyLeadsCollected: Type.Optional(Notification),
  dailyConversations: Type.Optional(Notification),
})

const rateLimitFields = {
  limit: Type.Integer({ minimum: 1, maximum: 200 }),
  timeframe: Type.Integer({ minimum: 1, maximum: 3600, description: 'Seconds' }),
  message: Type.String({ minLength: 1, maxLength: 500 }),
}
export const IpRateLimits = Exact(rateLimitFields)
export const IpRateLimitsChange = Subset(IpRateLimits)

export const SpamSettings = Exact(
  { enabled: Type.Boolean(), prompt: Text(2000) },
  {
    description:
      "On messaging, email and the widget, the first three messages of a conversation are compared with `prompt`, your description of spam, before the agent answers. The agent's model decides; without one, a message is spam if it contains one of the terms of `prompt`, separated by commas or lines, as whole words. Spam pauses the conversation: its messages are kept and shown to the team, and the agent does not answer until somebody resumes it.",
  },
)

export const AiNotice = Exact(
  {
    enabled: Type.Boolean(),
    text: Nullable(
      Type.String({
        minLength: 1,
        maxLength: 500,
        pattern: '\\S',
        refusal: 'Must not be blank.',
        description: "Plain text; null: a sentence in the customer's language",
      }),
    ),
    place: OneOf(['before', 'after'], {
      description:
        'Of the first answer of a mail or messaging thread; in the chat, it is a line at the beginning',
    }),
  },
  {
    description:
      'The notice that an AI system answers: with the first answer of the agent on the widget, its own page, mail and messaging, and never with the reply of a person. Answers of the API have none: there, and wherever it is switched off, telling people is the duty of whoever runs the agent.',
  },
)
export const AiNoticeChange = Subset(AiNotice)

export const CountryCode = OneOf(countryCodes)

const optional = <T extends Record<string, Parameters<typeof Type.Optional>[0]>>(fields: T) =>
  Subset(Exact(fields))

export const VoiceSettings = optional({
  voice: optional({
    voiceName: Type.String({ minLength: 1, maxLength: 100 }),
    speed: Type.Number({ minimum: 0.7, maximum: 1.2 }),
    stability: Type.Number({ minimum: 0, maximum: 1 }),
    similarity: Type.Number({ minimum: 0, maximum: 1 }),
    instructions: Text(500),
  }),
  transcriber: optional({
    model: Type.String({ minLength: 1, maxLength: 100 }),
    language: Type.String({ minLength: 1, maxLength: 35 }),
    minSilenceDuration: Type.Number({ minimum: 0.1, maximum: 3 }),
    activationThreshold: Type.Number({ minimum: 0, maximum: 1 }),
  }),
  recordings: optional({ enabled: Type.Boolean(), retentionDays: Type.Integer({ minimum: 0 }) }),
  maxConcurrentSessions: Nullable(Type.Integer({ minimum: 1 })),
  maxCallDurationSeconds: Nullable(Type.Integer({ minimum: 1 })),
  maxDailyCallsPerUser: Nullable(Type.Integer({ minimum: 1 })),
  model: Type.String({ minLength: 1, maxLength: 200 }),
  temperature: Type.Number({ minimum: 0, maximum: 1 }),
  allowInterruptions: Type.Boolean(),
  allowTextInput: Type.Boolean(),
  endConversationAfterSilenceSeconds: Nullable(Type.Integer({ minimum: 10, description: 'null: no limit' })),
  initialMessage: Text(500),
  errorMessage: Text(500),
})

export const AllowedDomain = Type.String({
  maxLength: 253,
  pattern:
    '^(\\*\\.)?([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)(\\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*(:\\d{1,5})?$',
  refusal: 'Must be a host name like example.com, *.example.com or localhost:3000, without scheme and path.',
})
