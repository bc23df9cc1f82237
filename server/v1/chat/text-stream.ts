import { DONE_FRAME } from '../../conversations/stream/reading.ts'
import type { Shape, Wire } from '../../conversations/stream/send-stream.ts'
import { PING } from '../../platform/http/server/event-stream.ts'
import { LinkFilter, type MayLink } from '../../platform/text/safety/foreign-links.ts'

/** The streaming format of version 1: the text of a reply, and what follows when it fails halfway. */
type Format = Wire & {
  word(delta: string): string
  /** null: the format has no place for them. */
  sources: ((sources: unknown) => string) | null
  /** null: the body is cut off. */
  failure: string | null
}

export const plainText: Format = {
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  ping: null,
  done: null,
  word: (delta) => delta,
  sources: null,
  failure: null,
}

export const serverSentEvents: Format = {
  headers: { 'content-type': 'text/event-stream' },
  ping: PING,
  done: DONE_FRAME,
  word: (delta) => `data: ${JSON.stringify({ text: delta })}\n\n`,
  sources: (sources) => `event: sources\ndata: ${JSON.stringify({ sources })}\n\n`,
  failure: `event: error\ndata: ${JSON.stringify({ message: 'Internal server error' })}\n\n`,
}

/** Creates a stream in this format. */
export const wireOf = (format: Format, mayLink: MayLink): Wire => ({
  ...format,
  shape: () => wordsOf(format, mayLink),
})

/** Converts the frames of a reply to this format. */
function wordsOf(format: Format, mayLink: MayLink): Shape {
  const links = new LinkFilter(mayLink)
  let failed = false
  const written = (text: string): string => (text === '' ? '' : format.word(text))
  /** Matches the first half of a surrogate pair whose second half has not arrived; it cannot be encoded alone. */
  let half = ''
  return {
    textOf(frame) {
      const { type, data } = eventOf(frame)
      if (type === 'text-delta') {
        const { delta }: { delta: string } = JSON.parse(data)
        const text = half + delta
        half = /[\uD800-\uDBFF]$/.test(text) ? text.slice(-1) : ''
        return written(links.add(text.slice(0, text.length - half.length)))
      }
      const rest = written(links.end())
      if (type === 'data-sources' && format.sources) return rest + format.sources(sourcesIn(data))
      if (type !== 'error') return rest
      failed = true
      return rest + (format.failure ?? '')
    },
    get isBroken() {
      return failed && format.failure === null
    },
  }
}

function eventOf(frame: string): { type: string; data: string } {
  const [, type = '', data = ''] = /^event: (.*)\ndata: (.*)$/m.exec(frame) ?? []
  return { type, data }
}

function sourcesIn(data: string): unknown {
  const event: { data: { sources: unknown } } = JSON.parse(data)
  return event.data.sources
}
