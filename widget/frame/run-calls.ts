import { ParleyError } from '../../client/parley-error.ts'
import { createTries, usualPatience } from '../../client/patience.ts'
import type { ChatParts } from './chat-parts.ts'
import type { Call } from './types.ts'

/**
 * Has the page run the agent's calls of client actions, and sends the results. Calls that another tab is running are
 * left to it. Returns false when there were no others.
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
            // Another tab has sent the result, or the call no longer waits for one. Either way there is nothing to do.
            if (error instanceof ParleyError && error.code === 'RESOURCE_TOOL_CALL_NOT_FOUND') return
            await tries.pause(error, signal)
          }
        }
      }),
    ),
  )
  return ran.includes(true)
}

/**
 * The size limit of a result. The service accepts no more than 64 KiB including the envelope, and browsers do not
 * keep larger requests alive when the page is left.
 */
const MAX_BYTES = 60 * 1024

const fitting = (output: unknown): unknown =>
  new Blob([JSON.stringify(output) ?? '']).size < MAX_BYTES
    ? output
    : { status: 'error', error: 'The result of the action is too long.' }

/** Runs `work` unless another tab of the visitor is running it. Pages without HTTPS have no locks and always run it. */
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
