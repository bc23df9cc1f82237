/** One server-sent event: its id and its joined data lines. */
export type ServerSentEvent = { id: string | undefined; data: string }

/**
 * Reads server-sent events from a response body. Throws when the connection breaks, when nothing at all (not even a
 * comment) arrives for `silenceMs`, and when `signal` aborts. Leaving the loop closes the connection.
 */
export async function* parseEvents(
  body: ReadableStream<Uint8Array>,
  { silenceMs, signal }: { silenceMs: number; signal?: AbortSignal | undefined },
): AsyncGenerator<ServerSentEvent, void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const lines = lineSplitter()
  let event = emptyEvent()
  try {
    for (;;) {
      const { done, value } = await withDeadline(reader.read(), silenceMs, signal)
      if (done) return
      for (const line of lines(decoder.decode(value, { stream: true }))) {
        if (line !== '') addLine(event, line)
        else {
          if (event.data.length > 0) yield { id: event.id, data: event.data.join('\n') }
          event = emptyEvent()
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}

type OpenEvent = { id: string | undefined; data: string[] }

const emptyEvent = (): OpenEvent => ({ id: undefined, data: [] })

function addLine(event: OpenEvent, line: string): void {
  const colon = line.indexOf(':')
  const field = colon === -1 ? line : line.slice(0, colon)
  const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
  if (field === 'data') event.data.push(value)
  else if (field === 'id') event.id = value
}

/**
 * Returns a function that takes the next piece of text and returns the lines completed by it. A line may end with LF,
 * CR or both, and may be split across pieces anywhere.
 */
function lineSplitter(): (piece: string) => string[] {
  let rest = ''
  let endsWithCr = false
  return (piece) => {
    const text = endsWithCr && piece.startsWith('\n') ? piece.slice(1) : piece
    if (piece !== '') endsWithCr = piece.endsWith('\r')
    const lines = text.split(/\r\n|\n|\r/)
    lines[0] = rest + lines[0]
    rest = lines.pop() ?? ''
    return lines
  }
}

/** Returns the result of `work`. Throws when `ms` milliseconds pass or `signal` aborts first. */
export function withDeadline<T>(work: Promise<T>, ms: number, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal?.reason)
    const timer = setTimeout(() => reject(new Error(`Nothing arrived for ${ms} ms.`)), ms)
    if (signal?.aborted) onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    })
  })
}
