import Type from 'typebox'
import { channels } from '../../agents/settings/settings-schema.ts'
import { Exact, IsoTime, Nullable, OneOf, Subset } from '../../platform/http/contract.ts'

const actionTypes = ['client', 'http', 'collect-leads', 'escalate', 'web-search'] as const
export const MAX_ACTIONS = 100
export const DEFAULT_TIMEOUT_MS = 10_000

export const ActionName = Type.String({
  pattern: '^[a-zA-Z_][\\w-]{0,63}$',
  maxLength: 64,
  refusal: 'Must be letters, digits, _ and -, at most 64, and begin with a letter or _.',
})
const Description = Type.String({
  minLength: 1,
  maxLength: 2_000,
  pattern: '\\S',
  refusal: 'Must not be blank.',
  description: 'Tells the model when to use it',
})
const Channels = Nullable(
  Type.Array(OneOf(channels), {
    minItems: 1,
    maxItems: channels.length,
    uniqueItems: true,
    description: 'null: everywhere',
  }),
)
const Inputs = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'JSON Schema of an object, draft 2020-12',
})

const Method = OneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
const TimeoutMs = Type.Integer({ minimum: 1, maximum: 30_000, description: 'Milliseconds; default 10000' })
const requestFields = {
  method: Method,
  url: Type.String({ minLength: 1, maxLength: 2_048, description: 'May hold {{input}} after the host' }),
  headers: Type.Unsafe<Record<string, string | null>>({
    type: 'object',
    maxProperties: 50,
    additionalProperties: { type: ['string', 'null'], maxLength: 8_192 },
    description: 'Stored encrypted. In a change null keeps the stored value',
  }),
  body: Nullable(Type.String({ maxLength: 65_536, description: 'May hold {{input}}' })),
  timeoutMs: TimeoutMs,
}

/** The request of an http action as it is sent when creating the action. */
const NewRequest = Exact({
  ...requestFields,
  headers: Type.Optional(requestFields.headers),
  body: Type.Optional(requestFields.body),
  timeoutMs: Type.Optional(TimeoutMs),
})

export const Action = Exact({
  id: Type.String(),
  name: ActionName,
  type: OneOf(actionTypes),
  description: Description,
  enabled: Type.Boolean(),
  channels: Channels,
  inputs: Inputs,
  http: Nullable(
    Exact({
      ...requestFields,
      headers: Type.Unsafe<Record<string, null>>({
        type: 'object',
        additionalProperties: { type: 'null' },
        description: 'Values are never returned',
      }),
    }),
  ),
  createdAt: IsoTime,
  updatedAt: IsoTime,
})

export const CreateAction = Exact({
  name: ActionName,
  type: OneOf(actionTypes),
  description: Description,
  enabled: Type.Optional(Type.Boolean()),
  channels: Type.Optional(Channels),
  inputs: Type.Optional(Inputs),
  http: Type.Optional(Nullable(NewRequest)),
})

export const UpdateAction = Subset(
  Exact({
    name: ActionName,
    type: OneOf(actionTypes, { description: 'Cannot be changed' }),
    description: Description,
    enabled: Type.Boolean(),
    channels: Channels,
    inputs: Inputs,
    http: Nullable(Subset(Exact(requestFields))),
  }),
)
