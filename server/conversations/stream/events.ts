import Type, { type Static, type TObject, type TProperties } from 'typebox'
import { CitedSource } from '../../knowledge/search/answering/schema.ts'
import { Exact, Nullable, OneOf, TaggedUnion } from '../../platform/http/contract.ts'
import type { Ungrounded } from '../grounding/ungrounded-values.ts'
import { finishReasons, Offer, StandIn, UngroundedValues } from '../records/schema.ts'

export type FinishReason = (typeof finishReasons)[number]

/** service-api, "Stream finish metadata". */
export type FinishMetadata = {
  messageId: string
  userMessageId: string
  conversationId: string
  userId: string | null
  usage: { credits: number }
  /** The model that answered in place of the agent's own, whose provider failed. */
  model?: string
  /** Whom the answer offers; known at its end. */
  offer?: 'person'
  /** Values of the answer that its model was not given; known at its end. */
  ungrounded?: Ungrounded[]
}

/** `providerExecuted`: the call runs here; an application runs only the calls without it. */
type ToolInput = { toolCallId: string; toolName: string; providerExecuted?: true }

/** The events of an answer's stream (service-api, "Events"); our own kinds begin with `data-`. */
export type StreamEvent =
  | { type: 'start'; messageId: string }
  | { type: 'message-metadata'; messageMetadata: FinishMetadata }
  | { type: 'start-step' }
  | { type: 'text-start'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | { type: 'text-end'; id: string }
  | ({ type: 'tool-input-start' } & ToolInput)
  | { type: 'tool-input-delta'; toolCallId: string; inputTextDelta: string }
  | ({ type: 'tool-input-available'; input: unknown } & ToolInput)
  | { type: 'tool-output-available'; toolCallId: string; output: unknown; providerExecuted?: true }
  | { type: 'data-sources'; data: { sources: Static<typeof CitedSource>[] } }
  /** A person has taken the conversation over or ended it; the text of this answer so far is discarded. */
  | { type: 'data-handoff'; data: { status: 'taken_over' | 'ended' } }
  /** The process is shutting down; after that time, the stream continues or the stored answer is available. */
  | { type: 'data-reattach'; data: { afterMs: number }; transient: true }
  | { type: 'finish-step' }
  | { type: 'error'; errorText: string }
  | { type: 'finish'; finishReason: FinishReason; messageMetadata: FinishMetadata }

/** An upper bound on the events of an answer. */
export const EVENTS_PER_GENERATION = 100_000

export const DONE_FRAME = 'data: [DONE]\n\n'

/** Encodes one event for the wire. Joined like this, it is one string in memory and no chain of its pieces. */
export const frameOf = (id: number, event: StreamEvent): string =>
  ['id: ', id, '\nevent: ', event.type, '\ndata: ', JSON.stringify(event), '\n\n'].join('')

const event = <const T extends string, P extends TProperties>(type: T, description: string, fields: P) =>
  Exact({ type: Type.Literal(type), ...fields }, { description })

const toolCallId = Type.String()
const providerExecuted = Type.Optional(
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
    providerExecuted,
  }),
  ToolInputDeltaEvent: event('tool-input-delta', 'A piece of the input, as JSON text.', {
    toolCallId,
    inputTextDelta: Type.String(),
  }),
  ToolInputAvailableEvent: event('tool-input-available', 'The whole input: run the action.', {
    toolCallId,
    toolName: Type.String(),
    input: Type.Unknown(),
    providerExecuted,
  }),
  ToolOutputAvailableEvent: event('tool-output-available', 'The result of an action.', {
    toolCallId,
    output: Type.Unknown(),
    providerExecuted,
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
