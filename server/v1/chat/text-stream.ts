import { DONE_FRAME } from '../../conversations/stream/events.ts'
import type { Shape, Wire } from '../../conversations/stream/send-stream.ts'
import { PING } from '../../http/server/event-stream.ts'
import { LinkFilter, type MayLink } from '../../text/safety/foreign-links.ts'

/** How version 1 streams: the words of a reply, and what follows them when it failed half-way. */
type Format = Wire & {
  word(delta: string): string
  /** null: there is no place for them. */
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

/** A stream of the format. */
export const wireOf = (format: Format, mayLink: MayLink): Wire => ({
  ...format,
  shape: () => wordsOf(format, mayLink),
})

/** What the format has of a reply's frames. */
function wordsOf(format: Format, mayLink: MayLink): Shape {
  const links = new LinkFilter(mayLink)
  let failed = false
  const written = (text: string): string => (text === '' ? '' : format.word(text))
  /** The first half of a pair of which the second has not come: alone it cannot be written. */
  let half = ''
  return {
    textOf(frame) {
      const { type, data } = eventOf(frame)
      if (type === 'text-delta') {
        const text = half + (JSON.parse(data) as { delta: string }).delta
        half = /[\uD800-\uDBFF]$/.test(text) ? text.slice(-1) : ''
        return written(links.add(text.slice(0, text.length - half.length)))
      }
      const rest = written(links.end())
      if (type === 'data-sources' && format.sources)
        return rest + format.sources((JSON.parse(data) as { data: { sources: unknown } }).data.sources)
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
