import type { StreamEvent } from './events.ts'
import type { Shape } from './send-stream.ts'

type ToolEvent = Extract<StreamEvent, { toolCallId: string }>

/**
 * Filters an answer's events for an application, leaving out the calls that the service runs itself. A call is the
 * application's if it waits for a result, which is only known when the answer has ended. Until then, its events and
 * everything after them are held back, so that nobody is asked to run a call that comes to nothing. The order and the
 * ids of the events do not change.
 */
export function applicationFrames(): Shape {
  /** For each call, whether it is the application's; null while that is not known. */
  const calls = new Map<string, boolean | null>()
  /** The frames held back, beginning with the first event of an undecided call. */
  let held: { frame: string; callId: string | null }[] = []

  const decide = (isApplications: boolean): void => {
    for (const [id, known] of calls) if (known === null) calls.set(id, isApplications)
  }
  /** Returns the call that an event belongs to; null for other events. */
  const callOf = (frame: string): string | null => {
    const kind = kindOf(frame)
    if (kind === 'finish') decide((eventIn(frame) as { finishReason: string }).finishReason === 'tool-calls')
    if (kind !== 'tool') return null
    const { type, toolCallId, ...event } = eventIn(frame) as ToolEvent
    if ('providerExecuted' in event && event.providerExecuted) calls.set(toolCallId, false)
    else if (!calls.has(toolCallId)) calls.set(toolCallId, type === 'tool-output-available' ? true : null)
    return toolCallId
  }
  const shown = (): string => {
    const isUnknown = ({ callId }: { callId: string | null }) => callId !== null && calls.get(callId) === null
    const first = held.findIndex(isUnknown)
    const known = first === -1 ? held : held.slice(0, first)
    held = first === -1 ? [] : held.slice(first)
    return known
      .filter(({ callId }) => callId === null || calls.get(callId))
      .map(({ frame }) => frame)
      .join('')
  }
  return {
    textOf(frame) {
      const callId = callOf(frame)
      if (callId === null && held.length === 0) return frame
      held.push({ frame, callId })
      return shown()
    },
    end() {
      decide(false)
      return shown()
    },
    isBroken: false,
  }
}

function kindOf(frame: string): 'tool' | 'finish' | null {
  const at = frame.indexOf('\n') + 1
  if (frame.startsWith('event: tool-', at)) return 'tool'
  return frame.startsWith('event: finish\n', at) ? 'finish' : null
}

const eventIn = (frame: string): StreamEvent =>
  JSON.parse(frame.slice(frame.indexOf('\ndata: ') + '\ndata: '.length)) as StreamEvent
