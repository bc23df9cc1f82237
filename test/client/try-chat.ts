import type { ServerResponse } from 'node:http'
import { Chat } from '@ai-sdk/react'
import type { ChatInit, UIMessage } from 'ai'
import type { KeptStrings } from '../../client/conversation-ids.ts'
import type { AnswerEvent, StoredMessage } from '../../client/events.ts'
import { createParley } from '../../client/parley.ts'
import { createChatTransport } from '../../client/use-chat.ts'
import { type Seen, sendError, sendEvents, sendMessages, startScriptedService } from './scripted-service.ts'

export type Handler = (response: ServerResponse, seen: Seen) => void

/** The handlers of requests, by the last segment of the path. */
export type Script = Partial<
  Record<'chat' | 'stream' | 'messages' | 'retry' | 'stop' | 'tool-result', Handler>
>

export const nothingRuns: Handler = (response) => response.writeHead(204).end()
export const stored =
  (...messages: StoredMessage[]): Handler =>
  (response) =>
    sendMessages(response, messages)
export const streamed =
  (events: AnswerEvent[], cutAfter?: number): Handler =>
  (response) =>
    sendEvents(response, events, { cutAfter })

export async function withChat(
  script: Script,
  use: (page: {
    transport: ReturnType<typeof createChatTransport>
    open(init?: ChatInit<UIMessage>): Chat<UIMessage>
    seen: Seen[]
    /** Returns the requests so far, except those that read messages. */
    asked(): string[]
  }) => Promise<void>,
  storage: KeptStrings = keep(),
): Promise<void> {
  const service = await startScriptedService((seen, response) => {
    const handler = script[seen.path.split('/').at(-1) as keyof Script]
    if (handler) handler(response, seen)
    else sendError(response, 500, 'NOT_IN_SCRIPT')
  })
  const quick = { firstDelayMs: 1, longestDelayMs: 4, storedMs: 60, giveUpMs: 60 }
  const parley = createParley({ baseUrl: service.url, patience: quick })
  const transport = createChatTransport({ parley, agentId: 'agent', storage })
  try {
    await use({
      transport,
      open: (init) => new Chat({ id: 'chat', transport, ...init }),
      seen: service.seen,
      asked: () =>
        service.seen
          .filter(({ method, path }) => method === 'POST' || !path.endsWith('/messages'))
          .map(({ method, path }) => `${method} ${path.replace('/agents/agent', '')}`),
    })
  } finally {
    await service.close()
  }
}

function keep(): KeptStrings {
  const kept = new Map<string, string>()
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  }
}

export const shown = (message: UIMessage | undefined): string =>
  (message?.parts ?? [])
    .filter(({ type }) => type !== 'step-start' && type !== 'data-sources')
    .map((part) => (part.type === 'text' ? part.text : part.type))
    .join('|')

export const WHOLE = 'Let me look.|tool-opening_hours|We are open.'

export const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5))
}

export function remembering(conversationId: string): KeptStrings {
  const storage = keep()
  storage.setItem('parley:conversation:chat', conversationId)
  return storage
}
