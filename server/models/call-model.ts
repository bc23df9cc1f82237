import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import { createCallClock } from './call-clock.ts'
import { ModelFailure, toModelFailure } from './model-failure.ts'
import type { ResolvedModel } from './models.ts'

type CallOptions = Omit<LanguageModelV4CallOptions, 'abortSignal'>

/** A question that a short text answers; `longest` in characters. */
export type Ask = { system: string; user: string; maxOutputTokens: number; longest: number }

const LONGEST_RETRY_WAIT_MS = 5_000
const RETRY_WAIT_MS = 300

/** Parts that are part of the answer: after one of them a call is never made again. */
const CONTENT = new Set(['text-start', 'text-delta', 'tool-input-start', 'tool-call'])

/**
 * Calls a model and gives its parts as they come, ending with `finish`. The times of the catalogue entry hold;
 * a call that fails before its first content is made once more when that can help. Throws ModelFailure only.
 */
export async function* streamModel(
  resolved: ResolvedModel,
  options: CallOptions,
  { signal }: { signal: AbortSignal },
): AsyncGenerator<LanguageModelV4StreamPart> {
  const progress = { hasContent: false }
  try {
    yield* attempt(resolved, options, signal, progress)
  } catch (error) {
    const failure = toModelFailure(error, [resolved.entry.apiKey])
    const wait = failure.retryAfterMs ?? RETRY_WAIT_MS
    if (progress.hasContent || !failure.retryable || wait > LONGEST_RETRY_WAIT_MS) throw failure
    await pause(wait, signal)
    try {
      yield* attempt(resolved, options, signal, progress)
    } catch (second) {
      throw toModelFailure(second, [resolved.entry.apiKey])
    }
  }
}

/** What a model says to it as a whole; null when that is longer than it may be. Throws ModelFailure only. */
export async function askForText(
  model: ResolvedModel,
  { system, user, maxOutputTokens, longest }: Ask,
  signal: AbortSignal,
): Promise<string | null> {
  const prompt: LanguageModelV4Prompt = [
    { role: 'system', content: system },
    { role: 'user', content: [{ type: 'text', text: user }] },
  ]
  let text = ''
  for await (const part of streamModel(model, { prompt, temperature: 0, maxOutputTokens }, { signal })) {
    if (part.type === 'text-delta') text += part.delta
    if (text.length > longest) return null
  }
  return text
}

async function* attempt(
  { entry, model }: ResolvedModel,
  options: CallOptions,
  signal: AbortSignal,
  progress: { hasContent: boolean },
): AsyncGenerator<LanguageModelV4StreamPart> {
  const clock = createCallClock(entry.timeouts, signal)
  let reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | null = null
  try {
    const loaded = await model()
    // A call that does not heed its signal must not hold us: every wait is a race with the clock.
    const { stream } = await clock.race(
      Promise.resolve(loaded.doStream({ ...options, abortSignal: clock.signal })),
    )
    reader = stream.getReader()
    let finished = false
    for (;;) {
      const { value: part, done } = await clock.race(reader.read())
      if (done) break
      if (part.type === 'error') throw part.error
      if (part.type === 'finish') {
        if (part.finishReason.unified === 'interrupted') break
        finished = true
      }
      if (CONTENT.has(part.type)) progress.hasContent = true
      // Thinking counts as a sign of life, though nobody is shown it.
      if (progress.hasContent || part.type === 'reasoning-start' || part.type === 'reasoning-delta')
        clock.tick()
      yield part
    }
    if (!finished) throw new ModelFailure('unavailable', new Error('the stream ended without finish'))
  } catch (error) {
    throw clock.failure() ?? error
  } finally {
    clock.stop()
    // Also when the caller stops reading: the provider must not go on for nobody.
    void reader?.cancel().catch(() => {})
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        reject(new ModelFailure('aborted'))
      },
      { once: true },
    )
  })
}
