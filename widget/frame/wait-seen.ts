/** Waits `seenMs` if the chat is visible and `unseenMs` if not. Throws when `signal` aborts. */
export function waitSeen(
  isSeen: boolean,
  seenMs: number,
  unseenMs: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(
      () => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      },
      isSeen ? seenMs : unseenMs,
    )
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
