import type { ServerResponse } from 'node:http'
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import type { AnswerEvent, NumberedEvent } from '../../client/events.ts'
import { createParley, type Parley } from '../../client/parley.ts'
import type { Patience } from '../../client/patience.ts'
import { answerEvents } from './sample-answer.ts'
import { type Seen, sendError, sendEvents, startScriptedService } from './scripted-service.ts'

export const FIRST = 41
const CONVERSATION = '/agents/agent/conversations/conversation-1'
export const quick: Partial<Patience> = { firstDelayMs: 1, longestDelayMs: 4, storedMs: 60 }

export type Script = {
  chat: (seen: Seen, response: ServerResponse) => void
  stream?: (seen: Seen, response: ServerResponse, after: number) => void
  messages?: (seen: Seen, response: ServerResponse) => void
}

/** Runs `use` against a service that responds as the script says. */
export async function against<T>(
  script: Script,
  use: (parley: Parley, seen: Seen[]) => Promise<T>,
  patience: Partial<Patience> = {},
): Promise<T> {
  const service = await startScriptedService((seen, response) => {
    const refuse = () => sendError(response, 500, 'NOT_IN_SCRIPT')
    if (seen.path.endsWith('/chat')) script.chat(seen, response)
    else if (seen.path === `${CONVERSATION}/stream`) {
      ;(script.stream ?? refuse)(seen, response, Number(seen.headers['last-event-id'] ?? FIRST - 1))
    } else if (seen.path === `${CONVERSATION}/messages`) (script.messages ?? refuse)(seen, response)
    else sendError(response, 404, 'ROUTE_NOT_FOUND')
  })
  try {
    return await use(
      createParley({ baseUrl: service.url, patience: { ...quick, ...patience } }),
      service.seen,
    )
  } finally {
    await service.close()
  }
}

export async function collect(answer: AsyncIterable<NumberedEvent>): Promise<NumberedEvent[]> {
  const events: NumberedEvent[] = []
  for await (const event of answer) events.push(event)
  return events
}

export const ask = async (parley: Parley, conversationId?: string) =>
  collect(await parley.chat('agent', { message: 'Are you open on Monday?', conversationId }))

/** Sends the events after id `after`, as the service does. */
export const sendRest = (response: ServerResponse, after: number, cutAfter?: number): void =>
  sendEvents(response, answerEvents.slice(after + 1 - FIRST), { first: after + 1, cutAfter })

export const eventsIn = (events: NumberedEvent[]): AnswerEvent[] => events.map(({ event }) => event)

/** Returns the message as the AI SDK reads it, without the differences between a streamed and a stored one. */
export async function bySdk(events: AnswerEvent[], message?: UIMessage): Promise<UIMessage> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const event of events) controller.enqueue(event as UIMessageChunk)
      controller.close()
    },
  })
  const asked = { stream, terminateOnError: true, ...(message === undefined ? {} : { message }) }
  let last: UIMessage | undefined
  for await (const state of readUIMessageStream(asked)) last = state
  return JSON.parse(JSON.stringify({ id: last?.id, parts: last?.parts, metadata: last?.metadata }))
}
