import Type, { type TObject, type TProperties } from 'typebox'
import { CitedSource } from '../../knowledge/search/answering/schema.ts'
import { finishReasons, outcomes } from '../../platform/db/tables/conversations.ts'
import { EpochSeconds, Exact, IsoTime, Nullable, OneOf, TaggedUnion } from '../../platform/http/contract.ts'

export const conversationStatuses = ['ongoing', 'ended', 'taken_over', 'paused'] as const

/** service-api, "Conversation metadata". */
const metadataFields = {
  id: Type.String(),
  title: Nullable(Type.String()),
  createdAt: EpochSeconds,
  updatedAt: EpochSeconds,
  userId: Nullable(Type.String()),
  status: OneOf(conversationStatuses),
  parentConversationId: Nullable(Type.String()),
  parentSummary: Nullable(Type.String()),
}

export const Conversation = Exact(metadataFields)

const providerExecuted = Type.Optional(
  Type.Literal(true, {
    description:
      'The service ran the call itself, so no result is expected. Such parts are shown only with `includeServerActions`.',
  }),
)

/** service-api, "Message parts". */
const Part = TaggedUnion('type', [
  Exact({ type: Type.Literal('text'), text: Type.String() }),
  Exact({
    type: Type.Literal('tool-call'),
    toolCallId: Type.String(),
    toolName: Type.String(),
    input: Type.Optional(Type.Unknown()),
    providerExecuted,
  }),
  Exact({
    type: Type.Literal('tool-result'),
    toolCallId: Type.String(),
    toolName: Type.String(),
    output: Type.Optional(Type.Unknown()),
    providerExecuted,
  }),
])

export const Score = Nullable(
  Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'Retrieval confidence of the answer, 0 to 1; null where nothing was scored',
  }),
)

const StandIn = Type.Optional(
  Type.String({ description: "The model that answered because the provider of the agent's own failed" }),
)

/** A file that was sent with a message. */
export const MessageAttachment = Exact({
  name: Type.String(),
  url: Nullable(Type.String({ description: 'Valid for a day; null in exported files' })),
  type: Type.String({ description: 'Media type, by content' }),
  size: Type.Integer({ minimum: 0, description: 'Bytes' }),
})

export const Outcome = Nullable(
  OneOf(outcomes, {
    description:
      'How the question ended: answered, partly, not found in the documents, handed over to a person, or refused; null where nobody reported it',
  }),
)

export const ForbiddenTopic = Type.Optional(
  Type.String({ description: 'The forbidden topic that the customer asked about, as the model reported it' }),
)

export const Offer = Type.Optional(
  Type.Literal('person', {
    description: 'The answer offers a person of the team: nothing was found, and the agent may escalate',
  }),
)

export const UngroundedValues = Type.Optional(
  Type.Array(
    Exact({
      kind: OneOf(['number', 'date', 'time', 'phone', 'email', 'url']),
      text: Type.String({ description: 'As it stands in the answer' }),
    }),
    {
      description:
        'Values of the answer that stand neither in the passages, results of actions, instructions nor in what the customer wrote; absent if there are none',
    },
  ),
)

export const HeldAnswerOutcome = Type.Optional(
  Exact(
    {
      what: OneOf(['sent', 'changed', 'discarded']),
      by: Exact({ id: Type.String(), name: Type.String() }),
      at: IsoTime,
    },
    {
      description:
        'What became of a held answer: a member sent it as it was or after a change, or discarded it; absent while it waits',
    },
  ),
)

const Edited = Type.Integer({
  description: 'When its author has last edited the message on the channel, in Unix seconds',
})
const Deleted = Type.Integer({
  description:
    'When its author has deleted the message on the channel, in Unix seconds; it has no parts any more',
})

export const Message = Exact({
  id: Type.String(),
  role: OneOf(['user', 'assistant']),
  parts: Type.Array(Part),
  createdAt: EpochSeconds,
  editedAt: Type.Optional(Edited),
  deletedAt: Type.Optional(Deleted),
  feedback: Type.Optional(OneOf(['positive', 'negative'])),
  attachments: Type.Optional(Type.Array(MessageAttachment, { description: 'Files attached to the message' })),
  metadata: Type.Optional(
    Exact({
      score: Score,
      outcome: Outcome,
      forbiddenTopic: ForbiddenTopic,
      held: Type.Optional(
        Type.Literal(true, {
          description:
            'The answer was held for a person: the customer got this sentence, and the ticket has the answer',
        }),
      ),
      heldOutcome: HeldAnswerOutcome,
      offer: Offer,
      sources: Type.Optional(Type.Array(CitedSource)),
      ungrounded: UngroundedValues,
      finishReason: Type.Optional(OneOf(finishReasons, { description: 'How the answer ended' })),
      model: StandIn,
      reasoning: Type.Optional(
        Type.String({
          description: 'What the model thought before it answered; only in exports, for the team',
        }),
      ),
      delivery: Type.Optional(
        Exact(
          { status: Type.String(), error: Nullable(Type.String()) },
          {
            description:
              'Set when a channel could not deliver the message (status `failed`) or not to everybody: the reason',
          },
        ),
      ),
      author: Type.Optional(
        Exact(
          { type: Type.Literal('human_agent'), name: Type.String() },
          { description: 'The team member who wrote the message' },
        ),
      ),
    }),
  ),
})

/** service-api, "Conversation (single read)". */
export const ConversationWithMessages = Exact({ ...metadataFields, messages: Type.Array(Message) })

/** The codes with which a message to an agent can be rejected. */
export const ChatErrors = [
  'RESOURCE_NOT_FOUND',
  'CHAT_CREDITS_EXHAUSTED',
  'CHAT_AGENT_CREDITS_EXHAUSTED',
  'CHAT_MODEL_NOT_ALLOWED',
  'CHAT_CONVERSATION_NOT_ONGOING',
  'CHAT_CONVERSATION_BUSY',
  'CHAT_PROVIDER_ERROR',
] as const

/** service-api, "Chat response (non-streaming)". */
export const ChatAnswer = Exact({
  data: Exact({
    id: Type.String(),
    role: Type.Literal('assistant'),
    parts: Type.Array(Part),
    metadata: Exact({
      userMessageId: Type.String(),
      conversationId: Type.String(),
      userId: Nullable(Type.String()),
      finishReason: OneOf(finishReasons),
      usage: Exact({ credits: Type.Number() }),
      model: StandIn,
      score: Score,
      outcome: Outcome,
      offer: Offer,
      ungrounded: UngroundedValues,
      sources: Type.Array(CitedSource),
    }),
  }),
})

export const UserId = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: '^[a-zA-Z0-9._-]+$',
  refusal: 'May hold letters, digits, dots, underscores and hyphens only.',
})

const event = <const T extends string, P extends TProperties>(type: T, description: string, fields: P) =>
  Exact({ type: Type.Literal(type), ...fields }, { description })

const toolCallId = Type.String()
const runHere = Type.Optional(
  Type.Literal(true, { description: 'The service runs the call; only sent with `includeServerActions`' }),
)
/** service-api, "Stream finish metadata". */
const messageMetadata = Exact({
  messageId: Type.String(),
  userMessageId: Type.String(),
  conversationId: Type.String(),
  userId: Nullable(Type.String()),
  usage: Exact({ credits: Type.Number() }),
  model: StandIn,
  offer: Offer,
  ungrounded: UngroundedValues,
})

/**
 * The schemas by their names in the reference (service-api, "Events"). The types of our own events begin with `data-`.
 */
export const streamEvents: Record<string, TObject> = {
  StartEvent: event('start', 'A message begins.', { messageId: Type.String() }),
  MessageMetadataEvent: event('message-metadata', 'What `finish` will say, early.', { messageMetadata }),
  StartStepEvent: event('start-step', 'A step of processing begins.', {}),
  TextStartEvent: event('text-start', 'A block of text begins.', { id: Type.String() }),
  TextDeltaEvent: event('text-delta', 'A piece of a block; all of them together are its text.', {
    id: Type.String(),
    delta: Type.String(),
  }),
  TextEndEvent: event('text-end', 'A block of text ends.', { id: Type.String() }),
  ToolInputStartEvent: event('tool-input-start', 'The input of a client action begins.', {
    toolCallId,
    toolName: Type.String(),
    providerExecuted: runHere,
  }),
  ToolInputDeltaEvent: event('tool-input-delta', 'A piece of the input, as JSON text.', {
    toolCallId,
    inputTextDelta: Type.String(),
  }),
  ToolInputAvailableEvent: event('tool-input-available', 'The whole input: run the action.', {
    toolCallId,
    toolName: Type.String(),
    input: Type.Unknown(),
    providerExecuted: runHere,
  }),
  ToolOutputAvailableEvent: event('tool-output-available', 'The result of an action.', {
    toolCallId,
    output: Type.Unknown(),
    providerExecuted: runHere,
  }),
  SourcesEvent: event('data-sources', 'The sources that the answer cites.', {
    data: Exact({ sources: Type.Array(CitedSource) }),
  }),
  HandoffEvent: event('data-handoff', 'A person has the conversation: this answer is not kept.', {
    data: Exact({ status: OneOf(['taken_over', 'ended']) }),
  }),
  ReattachEvent: event(
    'data-reattach',
    'The service is restarting: re-attach after that time. `[DONE]` follows, without `finish`.',
    { data: Exact({ afterMs: Type.Integer({ minimum: 0 }) }), transient: Type.Literal(true) },
  ),
  FinishStepEvent: event('finish-step', 'A step of processing ends.', {}),
  ErrorEvent: event('error', 'The answer could not be completed; what was said of it stays.', {
    errorText: Type.String(),
  }),
  FinishEvent: event('finish', 'The answer is complete and stored.', {
    finishReason: OneOf(finishReasons),
    messageMetadata,
  }),
}

/** The content of each `data:` line of a chat stream, except for the last one, which is `[DONE]`. */
export const StreamEvent = TaggedUnion('type', Object.values(streamEvents))
