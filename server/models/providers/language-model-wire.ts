import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Part, Wire } from '../calls/model-call.ts'

/** Made once: an error with a stack for each call that is given up costs more than the giving up. */
const GIVEN_UP = new DOMException('The answer is not wanted any more.', 'AbortError')

/** A model behind the AI SDK's interface. */
export function languageModelWire(model: LanguageModelV4): Wire {
  return (options, receiver) => {
    const controller = new AbortController()
    let isOver = false
    let reader: ReadableStreamDefaultReader<Part> | null = null
    // A call that does not heed its signal holds nobody: what it still gives is dropped.
    const read = async (): Promise<void> => {
      const { stream } = await model.doStream({ ...options, abortSignal: controller.signal })
      reader = stream.getReader()
      while (!isOver) {
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
      receiver.fail(error)
    })
    return {
      stop() {
        if (isOver) return
        isOver = true
        controller.abort(GIVEN_UP)
        reader?.cancel().catch(() => {})
      },
    }
  }
}
