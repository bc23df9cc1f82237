import type { UIMessageChunk } from 'ai'
import type { AnswerEvent } from './events.ts'

type Listener = {
  onEvent(event: AnswerEvent): void
  /** Called when the stream was read to its end, failed or was cancelled. */
  onEnd(): void
  onCancel(): void
}

/** Returns the events as a stream for the AI SDK. Each event is pulled only when the previous one has been read. */
export function chunkStream(
  events: AsyncIterator<AnswerEvent> | Iterator<AnswerEvent>,
  { onEvent, onEnd, onCancel }: Listener,
): ReadableStream<UIMessageChunk> {
  return new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      try {
        const { done, value } = await events.next()
        if (done) {
          controller.close()
          onEnd()
          return
        }
        onEvent(value)
        controller.enqueue(value as UIMessageChunk)
      } catch (error) {
        onEnd()
        throw error
      }
    },
    cancel() {
      onCancel()
      onEnd()
      // This is not awaited, because a pending read must first be ended by the abort.
      Promise.resolve(events.return?.()).catch(() => {})
    },
  })
}
