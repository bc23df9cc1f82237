import type { StreamEvent } from './events.ts'
import type { Shape } from './send-stream.ts'

type ToolEvent = Extract<StreamEvent, { toolCallId: string }>

/**
 * Filters an answer's events for an application, leaving out the calls that the service runs itself. A call is the
 * application's if it waits for a result, which is only known when the answer has ended. Until then, its events and
 * everything after them are held back, so that nobody is asked to run a call that comes to nothing. The order and the
 * ids of the events do not change.
 */
export class ApplicationFrames implements Shape {
  readonly isBroken = false
  /** For each call, whether it is the application's; null while that is not known. */
  #calls: Map<string, boolean | null> | null = null
  /** The frames held back, beginning with the first event of an undecided call. */
  #held: { frame: string; callId: string | null }[] = []

  textOf(frame: string): string {
    const callId = this.#callOf(frame)
    if (callId === null && this.#held.length === 0) return frame
    this.#held.push({ frame, callId })
    return this.#shown()
  }

  end(): string {
    this.#decide(false)
    return this.#shown()
  }

  /** Returns the call that an event belongs to; null for other events. */
  #callOf(frame: string): string | null {
    const kind = kindOf(frame)
    if (kind === 'finish') {
      this.#decide((eventIn(frame) as { finishReason: string }).finishReason === 'tool-calls')
    }
    if (kind !== 'tool') return null
    const { type, toolCallId, ...event } = eventIn(frame) as ToolEvent
    this.#calls ??= new Map()
    if ('providerExecuted' in event && event.providerExecuted) this.#calls.set(toolCallId, false)
    else if (!this.#calls.has(toolCallId)) {
      this.#calls.set(toolCallId, type === 'tool-output-available' ? true : null)
    }
    return toolCallId
  }

  #decide(isApplications: boolean): void {
    for (const [id, known] of this.#calls ?? []) if (known === null) this.#calls?.set(id, isApplications)
  }

  #shown(): string {
    const stateOf = (callId: string) => this.#calls?.get(callId)
    const first = this.#held.findIndex(({ callId }) => callId !== null && stateOf(callId) === null)
    const known = first === -1 ? this.#held : this.#held.slice(0, first)
    this.#held = first === -1 ? [] : this.#held.slice(first)
    return known
      .filter(({ callId }) => callId === null || stateOf(callId))
      .map(({ frame }) => frame)
      .join('')
  }
}

function kindOf(frame: string): 'tool' | 'finish' | null {
  const at = frame.indexOf('\n') + 1
  if (frame.startsWith('event: tool-', at)) return 'tool'
  return frame.startsWith('event: finish\n', at) ? 'finish' : null
}

const eventIn = (frame: string): StreamEvent =>
  JSON.parse(frame.slice(frame.indexOf('\ndata: ') + '\ndata: '.length)) as StreamEvent
