import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { Chat } from '@ai-sdk/react'
import { type ChatInit, lastAssistantMessageIsCompleteWithToolCalls, type UIMessage } from 'ai'
import type { KeptStrings } from './conversation-ids.ts'
import type { AnswerEvent, StoredMessage } from './events.ts'
import { createParley } from './parley.ts'
import {
  answerEvents,
  continuationEvents,
  ids,
  question,
  storedAnswer,
  waitingAnswer,
  waitingEvents,
} from './sample-answer.ts'
import {
  type Seen,
  sendError,
  sendEvents,
  sendJson,
  sendMessages,
  startScriptedService,
} from './scripted-service.ts'
import { pendingToolCalls, toUIMessages } from './ui-messages.ts'
import { createChatTransport } from './use-chat.ts'

type Handler = (response: ServerResponse, seen: Seen) => void

/** By the end of the path: what answers it. */
type Script = Partial<Record<'chat' | 'stream' | 'messages' | 'retry' | 'stop' | 'tool-result', Handler>>

const nothingRuns: Handler = (response) => response.writeHead(204).end()
const stored =
  (...messages: StoredMessage[]): Handler =>
  (response) =>
    sendMessages(response, messages)
const streamed =
  (events: AnswerEvent[], cutAfter?: number): Handler =>
  (response) =>
    sendEvents(response, events, { cutAfter })

async function withChat(
  script: Script,
  use: (page: {
    transport: ReturnType<typeof createChatTransport>
    open(init?: ChatInit<UIMessage>): Chat<UIMessage>
    seen: Seen[]
    /** What was asked, without the reading of messages. */
    asked(): string[]
  }) => Promise<void>,
  storage: KeptStrings = keep(),
): Promise<void> {
  const service = await startScriptedService((seen, response) => {
    const handler = script[seen.path.split('/').at(-1) as keyof Script]
    if (handler) handler(response, seen)
    else sendError(response, 500, 'NOT_IN_SCRIPT')
  })
  const quick = { firstDelayMs: 1, longestDelayMs: 4, storedMs: 60 }
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

const shown = (message: UIMessage | undefined): string =>
  (message?.parts ?? [])
    .filter(({ type }) => type !== 'step-start' && type !== 'data-sources')
    .map((part) => (part.type === 'text' ? part.text : part.type))
    .join('|')

const WHOLE = 'Let me look.|tool-opening_hours|We are open.'

test('the second message, and the first after a reload, go on with the conversation', async () => {
  await withChat({ chat: streamed(answerEvents) }, async ({ open, seen, transport }) => {
    const chat = open()
    await chat.sendMessage({ text: 'Hello' })
    assert.equal(chat.error, undefined)
    assert.equal(shown(chat.lastMessage), WHOLE)
    assert.equal(chat.lastMessage?.id, ids.messageId)
    assert.deepEqual(chat.lastMessage?.metadata, ids)
    await chat.sendMessage({ text: 'And Tuesday?' })
    await open().sendMessage({ text: 'Still there?' })
    transport.forget('chat')
    await open().sendMessage({ text: 'Something else' })
    assert.deepEqual(
      seen.map(({ body }) => body),
      [
        { message: 'Hello', stream: true },
        { message: 'And Tuesday?', conversationId: 'conversation-1', stream: true },
        { message: 'Still there?', conversationId: 'conversation-1', stream: true },
        { message: 'Something else', stream: true },
      ],
    )
  })
})

test('a page whose storage throws keeps its conversation while it is open', async () => {
  const refuse = (): never => {
    throw new DOMException('The operation is insecure.', 'SecurityError')
  }
  const storage = { getItem: refuse, setItem: refuse, removeItem: refuse }
  await withChat(
    { chat: streamed(answerEvents) },
    async ({ open, seen }) => {
      await open().sendMessage({ text: 'Hello' })
      await open().sendMessage({ text: 'Again' })
      assert.equal(seen[1]?.body.conversationId, 'conversation-1')
    },
    storage,
  )
})

const acting = (chat: () => Chat<UIMessage>, run: () => { output: unknown } | { errorText: string }) => ({
  onToolCall: ({ toolCall }: { toolCall: { toolCallId: string; toolName: string } }) => {
    const { toolCallId, toolName: tool } = toolCall
    const result = run()
    void chat().addToolOutput(
      'output' in result
        ? { tool, toolCallId, output: result.output }
        : { tool, toolCallId, state: 'output-error', errorText: result.errorText },
    )
  },
  sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
})

/** A chat whose first answer calls an action of the page and whose second goes on from its result. */
const actionScript = (): Script => {
  let answers = 0
  return {
    chat: (response) => sendEvents(response, answers++ === 0 ? waitingEvents : continuationEvents),
    messages: stored(question, waitingAnswer),
    'tool-result': (response) => sendJson(response, { data: { success: true } }),
  }
}

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5))
}

test('an action runs in the page, its result is submitted once, and the same message goes on', async () => {
  for (const result of [{ output: { shown: true } }, { errorText: 'No map here.' }]) {
    await withChat(actionScript(), async ({ open, seen, asked }) => {
      let runs = 0
      const run = () => {
        runs += 1
        return result
      }
      const chat: Chat<UIMessage> = open(acting(() => chat, run))
      await chat.sendMessage({ text: 'Where are you?' })
      await until(() => chat.status === 'ready' && shown(chat.lastMessage).includes('see it'))
      assert.equal(shown(chat.lastMessage), 'Here is a map.|tool-show_map|Can you see it?')
      assert.equal(chat.messages.length, 2)
      assert.equal(runs, 1)
      await chat.sendMessage({ text: 'Yes' })
      assert.deepEqual(asked(), [
        'POST /chat',
        'POST /conversations/conversation-1/tool-result',
        'POST /chat',
        'POST /chat',
      ])
      const output = 'output' in result ? result.output : { status: 'error', error: 'No map here.' }
      assert.deepEqual(seen.find(({ path }) => path.endsWith('tool-result'))?.body, {
        toolCallId: 'call-2',
        output,
      })
      const continuation = seen.filter(({ path }) => path.endsWith('/chat'))[1]
      assert.deepEqual(continuation?.body, { conversationId: 'conversation-1', stream: true })
    })
  }
})

test('a result that somebody else has submitted is no error', async () => {
  const script = actionScript()
  script['tool-result'] = (response) => sendError(response, 404, 'RESOURCE_TOOL_CALL_NOT_FOUND')
  await withChat(script, async ({ open }) => {
    const chat: Chat<UIMessage> = open(
      acting(
        () => chat,
        () => ({ output: 1 }),
      ),
    )
    await chat.sendMessage({ text: 'Where are you?' })
    await until(() => shown(chat.lastMessage).includes('see it?'))
    assert.equal(chat.error, undefined)
  })
})

test('a page that is reloaded while its action waits runs it and goes on', async () => {
  const script = actionScript()
  script.chat = streamed(continuationEvents)
  script.stream = nothingRuns
  await withChat(
    script,
    async ({ open, transport, asked }) => {
      const messages = await transport.loadMessages('chat')
      const chat: Chat<UIMessage> = open({
        messages,
        ...acting(
          () => chat,
          () => assert.fail(),
        ),
      })
      await chat.resumeStream()
      const [call] = pendingToolCalls(chat.messages)
      assert.deepEqual(call, { toolCallId: 'call-2', toolName: 'show_map', input: { zoom: 3 } })
      await chat.addToolOutput({ tool: 'show_map', toolCallId: 'call-2', output: 'shown' })
      await until(() => chat.status === 'ready' && shown(chat.lastMessage).includes('see it?'))
      assert.equal(shown(chat.lastMessage), 'Here is a map.|tool-show_map|Can you see it?')
      assert.deepEqual(pendingToolCalls(chat.messages), [])
      assert.deepEqual(asked(), [
        'GET /conversations/conversation-1/stream',
        'POST /conversations/conversation-1/tool-result',
        'POST /chat',
      ])
    },
    remembering('conversation-1'),
  )
})

function remembering(conversationId: string): KeptStrings {
  const storage = keep()
  storage.setItem('parley:conversation:chat', conversationId)
  return storage
}

test('a page that is reloaded in the middle of an answer shows all of it, once', async () => {
  // Running still; or over between the look at the messages and the look at the stream.
  for (const isRunning of [true, false]) {
    let reads = 0
    const script: Script = {
      stream: isRunning ? streamed(answerEvents) : nothingRuns,
      messages: (response) =>
        sendMessages(response, isRunning || reads++ === 0 ? [question] : [question, storedAnswer]),
    }
    await withChat(
      script,
      async ({ open, transport }) => {
        const chat = open({ messages: await transport.loadMessages('chat') })
        await chat.resumeStream()
        assert.equal(chat.status, 'ready')
        assert.deepEqual(chat.messages.map(shown), ['Are you open on Monday?', WHOLE])
        await chat.resumeStream()
        assert.equal(chat.messages.length, 2)
      },
      remembering('conversation-1'),
    )
  }
})

test('an answer the page lost for too long is completed when it comes back', async () => {
  const script: Script = {
    chat: streamed(answerEvents, 5),
    stream: (response) => sendError(response, 401, 'AUTH_INVALID_API_KEY'),
    messages: stored(question, storedAnswer),
  }
  await withChat(script, async ({ open }) => {
    const chat = open()
    await chat.sendMessage({ text: 'Hello' })
    assert.equal((chat.error as { code?: string } | undefined)?.code, 'AUTH_INVALID_API_KEY')
    assert.equal(shown(chat.lastMessage), 'Let me ')
    script.stream = nothingRuns
    await chat.resumeStream()
    assert.deepEqual([chat.status, shown(chat.lastMessage), chat.messages.length], ['ready', WHOLE, 2])
  })
})

test('nothing is resumed without a conversation, or with one that is gone', async () => {
  await withChat(
    { stream: (response) => sendError(response, 404, 'RESOURCE_NOT_FOUND') },
    async ({ open, asked }) => {
      const chat = open()
      await chat.resumeStream()
      assert.deepEqual([chat.status, asked()], ['ready', []])
    },
  )
  const gone: Handler = (response) => sendError(response, 404, 'RESOURCE_NOT_FOUND')
  await withChat(
    { stream: gone, messages: gone, chat: streamed(answerEvents) },
    async ({ open, transport, seen }) => {
      const chat = open({ messages: await transport.loadMessages('chat') })
      await chat.resumeStream()
      await chat.sendMessage({ text: 'Hello' })
      assert.equal(chat.error, undefined)
      assert.deepEqual(seen.at(-1)?.body, { message: 'Hello', stream: true })
    },
    remembering('conversation-0'),
  )
})

test('an answer is made again by the retry endpoint; one that never came is asked for again', async () => {
  const script: Script = {
    chat: streamed(answerEvents),
    messages: stored(question, storedAnswer),
    retry: streamed(
      answerEvents.map((event) => (event.type === 'start' ? { ...event, messageId: 'again' } : event)),
    ),
  }
  await withChat(script, async ({ open, seen }) => {
    const chat = open()
    await chat.sendMessage({ text: 'Hello' })
    const named = { messageId: chat.lastMessage!.id }
    for (const options of [undefined, named, { messageId: question.id }]) {
      chat.messages = toUIMessages([question, storedAnswer], 'conversation-1')
      await chat.regenerate(options)
      assert.equal(chat.error, undefined)
      assert.deepEqual(
        [chat.messages.length, chat.lastMessage?.id, shown(chat.lastMessage)],
        [2, 'again', WHOLE],
      )
      const { path, body } = seen.at(-1)!
      assert.equal(path, '/agents/agent/conversations/conversation-1/retry')
      assert.deepEqual(body, { messageId: ids.messageId, stream: true })
    }
    script.messages = stored(question)
    chat.messages = toUIMessages([question], 'conversation-1')
    await chat.regenerate()
    assert.equal(seen.at(-1)?.body.message, 'Are you open on Monday?')
  })
})

/** Sends the first events and leaves the stream open. */
const running: Handler = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const frames = answerEvents
    .slice(0, 5)
    .map((event, i) => `id: ${i + 1}\ndata: ${JSON.stringify(event)}\n\n`)
  response.write(frames.join(''))
}

test("the chat's own stop only detaches; the transport's ends the answer, also one that has not begun", async () => {
  await withChat({ chat: running }, async ({ open, asked }) => {
    const chat = open()
    const sent = chat.sendMessage({ text: 'Hello' })
    await until(() => shown(chat.lastMessage) === 'Let me ')
    await chat.stop()
    await sent
    assert.deepEqual([chat.status, shown(chat.lastMessage), asked()], ['ready', 'Let me ', ['POST /chat']])
  })
  let pending: ServerResponse | undefined
  const script: Script = {
    chat: (response) => {
      pending = response
    },
    stop: (response) => {
      sendJson(response, { data: { stopped: true } })
      const rest = answerEvents.slice(6, 7).concat(answerEvents.slice(-2))
      pending?.end(rest.map((event, i) => `id: ${i + 9}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
    },
  }
  await withChat(script, async ({ open, transport, asked, seen }) => {
    const chat = open()
    const sent = chat.sendMessage({ text: 'Hello' })
    await until(() => pending !== undefined)
    const stopped = transport.stop('chat')
    running(pending!, seen[0]!)
    assert.equal(await stopped, true)
    await sent
    assert.deepEqual([chat.status, chat.error, shown(chat.lastMessage)], ['ready', undefined, 'Let me '])
    assert.deepEqual(asked(), ['POST /chat', 'POST /conversations/conversation-1/stop'])
  })
})

test('what cannot be sent says so, and nothing is sent', async () => {
  await withChat({ chat: streamed(answerEvents) }, async ({ open, asked }) => {
    const chat = open({ messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }] })
    await chat.sendMessage({ text: 'Hello!', messageId: 'u' })
    assert.match(chat.error?.message ?? '', /cannot be changed/)
    const file = { type: 'file' as const, mediaType: 'image/png', url: 'data:image/png;base64,AA==' }
    await chat.sendMessage({ text: 'Look', files: [file] })
    assert.match(chat.error?.message ?? '', /Files cannot be sent/)
    assert.deepEqual(asked(), [])
  })
})
