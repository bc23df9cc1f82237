import type { LanguageModelV4 } from '@ai-sdk/provider'
import { recordOf } from '../../platform/unknown-values.ts'
import type { Part, Wire } from '../calls/model-call.ts'
import { namedIn, type Refused, without } from '../calls/refused-settings.ts'

/** Created once, because an error with a stack trace for each aborted call would cost more than aborting it. */
const GIVEN_UP = new DOMException('The answer is not wanted any more.', 'AbortError')

/** Adapts a model with the AI SDK's interface; `modelFor` returns one that does not send what is refused. */
export function languageModelWire(modelFor: (refused: Refused) => LanguageModelV4): Wire {
  return (options, receiver, refused) => {
    const model = modelFor(refused)
    const controller = new AbortController()
    let isOver = false
    let reader: ReadableStreamDefaultReader<Part> | null = null
    /** Resolves when reading continues; null while nothing has paused it. */
    let paused: PromiseWithResolvers<void> | null = null
    // A call that ignores its signal delays nobody; its later output is dropped.
    const read = async (): Promise<void> => {
      const { stream } = await model.doStream({ ...options, abortSignal: controller.signal })
      reader = stream.getReader()
      while (!isOver) {
        await paused?.promise
        const { value, done } = await reader.read()
        if (isOver) break
        if (done) {
          isOver = true
          receiver.end()
          return
        }
        receiver.add(value)
      }
      await reader.cancel()
    }
    read().catch((error: unknown) => {
      if (isOver) return
      isOver = true
      const { responseBody, requestBodyValues } = recordOf(error)
      const isAnswered = typeof responseBody === 'string' && typeof requestBodyValues === 'object'
      const sent = isAnswered ? without(recordOf(requestBodyValues), refused) : null
      receiver.fail(error, sent ? namedIn(responseBody as string, sent) : undefined)
    })
    return {
      stop() {
        if (isOver) return
        isOver = true
        controller.abort(GIVEN_UP)
        reader?.cancel().catch(() => {})
        paused?.resolve()
      },
      pause() {
        paused = Promise.withResolvers()
      },
      resume() {
        paused?.resolve()
        paused = null
      },
    }
  }
}
