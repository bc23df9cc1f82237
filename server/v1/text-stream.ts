import { DONE_FRAME } from '../conversations/events.ts'
import type { FrameSource } from '../conversations/live-generation.ts'
import type { Wire } from '../conversations/send-stream.ts'
import { PING } from '../http/event-stream.ts'

/** How version 1 streams: the words of a reply, and what follows them when it failed half-way. */
type Format = Wire & {
  word(delta: string): string
  /** null: the body is cut off. */
  failure: string | null
}

export const plainText: Format = {
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  ping: null,
  done: null,
  word: (delta) => delta,
  failure: null,
}

export const serverSentEvents: Format = {
  headers: { 'content-type': 'text/event-stream' },
  ping: PING,
  done: DONE_FRAME,
  word: (delta) => `data: ${JSON.stringify({ text: delta })}\n\n`,
  failure: `event: error\ndata: ${JSON.stringify({ message: 'Internal server error' })}\n\n`,
}

/** The frames of a reply as the format has them, made when somebody reads them. */
export function wordsOf(source: FrameSource, format: Format): FrameSource {
  const frames: string[] = []
  let read = 0
  let failed = false
  const catchUp = (): void => {
    for (const frame of source.frames.slice(read)) {
      const { type, data } = eventOf(frame)
      if (type === 'text-delta') frames.push(format.word((JSON.parse(data) as { delta: string }).delta))
      if (type !== 'error') continue
      failed = true
      if (format.failure !== null) frames.push(format.failure)
    }
    read = source.frames.length
  }
  return {
    get frames() {
      catchUp()
      return frames
    },
    get ended() {
      return source.ended
    },
    get broken() {
      catchUp()
      return source.broken || (failed && format.failure === null)
    },
    watch: (listener) => source.watch(listener),
  }
}

function eventOf(frame: string): { type: string; data: string } {
  const [, type = '', data = ''] = /^event: (.*)\ndata: (.*)$/m.exec(frame) ?? []
  return { type, data }
}
