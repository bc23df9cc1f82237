import { ParleyError } from '../../client/parley-error.ts'
import { createTries, usualPatience } from '../../client/patience.ts'
import type { ChatParts } from './chat-parts.ts'
import type { Call } from './types.ts'

/**
 * Has the page run what the agent asks of it, and sends the results. What another tab runs at this moment is left to
 * it: false, when that is all there was.
 */
export async function runCalls(
  { api, page, store }: ChatParts,
  conversationId: string,
  calls: Call[],
  signal: AbortSignal,
): Promise<boolean> {
  store.set({ busy: 'acting' })
  const ran = await Promise.all(
    calls.map(({ toolCallId, toolName, input }) =>
      onlyHere(toolCallId, async () => {
        const output = fitting(await page.run(toolCallId, toolName, input))
        const tries = createTries(usualPatience, usualPatience.giveUpMs)
        for (;;) {
          signal.throwIfAborted()
          try {
            await api.submitResult(conversationId, toolCallId, output, signal)
            return
          } catch (error) {
            // Another tab was faster, or it is too late: either way there is nothing to do.
            if (error instanceof ParleyError && error.code === 'RESOURCE_TOOL_CALL_NOT_FOUND') return
            await tries.pause(error, signal)
          }
        }
      }),
    ),
  )
  return ran.includes(true)
}

/** The service takes no more, and browsers keep no more alive behind a page that is left: 64 KiB with what is around it. */
const MOST_BYTES = 60 * 1024

const fitting = (output: unknown): unknown =>
  new Blob([JSON.stringify(output) ?? '']).size < MOST_BYTES
    ? output
    : { status: 'error', error: 'The result of the action is too long.' }

/** Runs it unless another tab of the visitor is at it. Pages without HTTPS have no locks. */
async function onlyHere(name: string, work: () => Promise<void>): Promise<boolean> {
  if (!('locks' in navigator)) {
    await work()
    return true
  }
  return navigator.locks.request(`parley-call:${name}`, { ifAvailable: true }, async (lock) => {
    if (!lock) return false
    await work()
    return true
  })
}
