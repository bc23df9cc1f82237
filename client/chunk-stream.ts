import type { UIMessageChunk } from 'ai'
import type { AnswerEvent } from './events.ts'

type Listener = {
  onEvent(event: AnswerEvent): void
  /** Once: read to its end, failed or cancelled. */
  onEnd(): void
  onCancel(): void
}

/** Events as the stream that the AI SDK reads, each asked for when the one before has been taken. */
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
      // Not waited for: a read that is under way ends by the abort first.
      Promise.resolve(events.return?.()).catch(() => {})
    },
  })
}
