import { type Delivered, noteEvent, nothingDelivered } from './delivered.ts'
import type { AnswerEvent, NumberedEvent, StoredMessage } from './events.ts'
import { addedParts, closingEvents, coversDelivered, earlierEvents, missingEvents } from './missing-events.ts'
import { parseEvents } from './parse-events.ts'
import { attempt, createTries, type Patience, type Tries } from './patience.ts'

export type StreamPlace = {
  /** Known from the second event on, or from the start when the caller passed it. */
  conversationId: string | undefined
  lastEventId: number | undefined
}

/** The source of the events. Both methods throw ParleyError, or whatever fetch throws. */
export type StreamSource = {
  /** Reopens the stream after the given event. Returns null when no answer is being generated any more. */
  open(place: StreamPlace, signal: AbortSignal): Promise<Response | null>
  /** Returns the newest messages of the conversation, oldest first. */
  messages(conversationId: string, signal: AbortSignal): Promise<StoredMessage[]>
}

export type ReadOptions = {
  conversationId?: string | undefined
  /** The answer as it was before this generation, if the generation continues one. */
  before?: StoredMessage | undefined
  /** Whether the consumer also receives the parts of `before`, right after `start`. */
  showBefore?: boolean
  patience: Patience
  signal?: AbortSignal | undefined
}

/** Thrown when the connection ended before the answer did. */
class BrokenStream extends Error {
  override name = 'BrokenStream'
  readonly afterMs: number

  constructor(message: string, afterMs = 0) {
    super(message)
    this.afterMs = afterMs
  }
}

type Reading = { place: StreamPlace; delivered: Delivered; missingSince: number | undefined }

/**
 * Yields the events of one answer, each exactly once, whatever happens to the connection. A stream that ends without
 * `finish` is reopened where it broke off; when the answer is no longer being generated, the rest comes from the
 * stored message. Throws when that fails for too long, and throws the reason of `signal` when it aborts.
 */
export async function* readStream(
  first: Response,
  source: StreamSource,
  options: ReadOptions,
): AsyncGenerator<NumberedEvent, void> {
  const { patience, signal } = options
  const reading: Reading = {
    place: { conversationId: options.conversationId, lastEventId: undefined },
    delivered: nothingDelivered(),
    missingSince: undefined,
  }
  const tries = createTries(patience, patience.giveUpMs)
  let response: Response | null = first
  for (;;) {
    let broken: unknown
    try {
      for await (const next of eventsOnce(response, source, reading, options)) {
        tries.progress()
        yield next
      }
      return
    } catch (error) {
      broken = error
    }
    await tries.pause(broken, signal, broken instanceof BrokenStream ? broken.afterMs : 0)
    response = await reopen(source, reading.place, options, tries)
  }
}

/** Yields events until `finish`. Throws when the connection broke, or when no more of the answer is available yet. */
async function* eventsOnce(
  response: Response | null,
  source: StreamSource,
  reading: Reading,
  options: ReadOptions,
): AsyncGenerator<NumberedEvent, void> {
  if (response) yield* runningEvents(response, reading, options)
  if (!reading.delivered.isFinished) yield* storedEvents(source, reading, options)
}

/**
 * Yields the events of a stream until `finish`. It also ends when the stream belongs to another generation, which
 * means that this one is no longer running.
 */
async function* runningEvents(
  response: Response,
  { place, delivered }: Reading,
  { before, showBefore, patience, signal }: ReadOptions,
): AsyncGenerator<NumberedEvent, void> {
  if (!response.body) throw new BrokenStream('The response has no body.')
  for await (const { id: text, data } of parseEvents(response.body, { ...patience, signal })) {
    if (data === '[DONE]') break
    const event: AnswerEvent = JSON.parse(data)
    if (event.type === 'data-reattach') throw reattachOf(event)
    const id = text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
    if (id !== undefined && place.lastEventId !== undefined && id <= place.lastEventId) continue
    if (event.type === 'start' && delivered.messageId !== undefined) return
    place.lastEventId = id ?? place.lastEventId
    noteEvent(delivered, event)
    place.conversationId ??= delivered.metadata?.conversationId
    yield { id, event }
    if (delivered.isFinished) return
    if (event.type === 'start' && showBefore && before?.id === event.messageId) {
      for (const earlier of earlierEvents(before)) yield { id: undefined, event: earlier }
    }
  }
  throw new BrokenStream('The stream ended before the answer did.')
}

/** Yields the missing events, taken from the stored message. Throws while the end of the generation is not stored. */
async function* storedEvents(
  source: StreamSource,
  reading: Reading,
  { before, showBefore, patience, signal }: ReadOptions,
): AsyncGenerator<NumberedEvent, void> {
  const { delivered, place } = reading
  const { conversationId } = place
  if (conversationId === undefined) throw new BrokenStream('It is not known where the answer is stored.')
  const messages = await attempt((one) => source.messages(conversationId, one), patience, signal)
  const newest = messages.at(-1)
  const stored = delivered.messageId
    ? messages.find(({ id }) => id === delivered.messageId)
    : newest?.role === 'assistant' && newest
  const isShown = delivered.messageId !== undefined || !showBefore
  const parts = stored ? addedParts(stored, isShown ? before : undefined) : []
  reading.missingSince ??= Date.now()
  const waited = Date.now() - reading.missingSince
  if (!(stored && coversDelivered(parts, delivered)) && waited < patience.storedMs) {
    throw new BrokenStream('The end of the answer is not stored yet.')
  }
  const rest = stored
    ? missingEvents(stored, parts, delivered, conversationId)
    : closingEvents(delivered, 'other', { messageId: delivered.messageId ?? '', conversationId })
  for (const event of rest) yield { id: undefined, event }
}

/** Retries until the service responds. Returns the stream, or null when no answer is being generated any more. */
async function reopen(
  source: StreamSource,
  place: StreamPlace,
  { patience, signal }: ReadOptions,
  tries: Tries,
): Promise<Response | null> {
  for (;;) {
    try {
      return await attempt((one) => source.open(place, one), patience, signal)
    } catch (error) {
      await tries.pause(error, signal)
    }
  }
}

function reattachOf(event: AnswerEvent): BrokenStream {
  const { afterMs } = (event as { data: { afterMs?: number } }).data
  return new BrokenStream('The service is being restarted.', afterMs)
}
