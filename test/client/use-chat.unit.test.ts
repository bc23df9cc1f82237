import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { ParleyError } from '../../client/parley-error.ts'
import { toUIMessages } from '../../client/ui-messages.ts'
import { answerEvents, ids, question, storedAnswer } from './sample-answer.ts'
import { sendError, sendJson, sendMessages } from './scripted-service.ts'
import {
  type Handler,
  nothingRuns,
  remembering,
  type Script,
  shown,
  stored,
  streamed,
  until,
  WHOLE,
  withChat,
} from './try-chat.ts'

test('the second message, and the first after a reload, continue the conversation', async () => {
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

test('a page that is reloaded during an answer shows all of it, once', async () => {
  // The answer is still running, or it ends between the requests for the messages and for the stream.
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

test('an answer is completed when the page reconnects after a long interruption', async () => {
  const failures: [Handler, (error: Error | undefined) => void][] = [
    [
      (response) => sendError(response, 401, 'AUTH_INVALID_API_KEY'),
      (error) => assert.equal((error as ParleyError).code, 'AUTH_INVALID_API_KEY'),
    ],
    // The AI SDK distinguishes this error from others and continues with the message as it was.
    [(response) => response.destroy(), (error) => assert.ok(error instanceof TypeError)],
  ]
  for (const [fail, check] of failures) {
    for (const isRunning of [true, false]) {
      const script: Script = {
        chat: streamed(answerEvents, 5),
        stream: fail,
        messages: stored(question, storedAnswer),
      }
      await withChat(script, async ({ open }) => {
        const chat = open()
        await chat.sendMessage({ text: 'Hello' })
        check(chat.error)
        assert.equal(shown(chat.lastMessage), 'Let me ')
        if (isRunning) script.messages = stored(question)
        script.stream = isRunning ? streamed(answerEvents) : nothingRuns
        await chat.resumeStream()
        assert.deepEqual([chat.status, shown(chat.lastMessage), chat.messages.length], ['ready', WHOLE, 2])
      })
    }
  }
})

test('an answer that the page already follows is not followed twice', async () => {
  const script = { chat: running, stream: streamed(answerEvents), messages: stored(question) }
  await withChat(
    script,
    async ({ transport }) => {
      const messages = toUIMessages([question], 'conversation-1')
      const send = { chatId: 'chat', messageId: undefined, abortSignal: undefined, messages }
      const stream = await transport.sendMessages({ ...send, trigger: 'submit-message' })
      assert.equal(await transport.reconnectToStream({ chatId: 'chat' }), null)
      await stream.cancel()
      assert.ok(await transport.reconnectToStream({ chatId: 'chat' }))
    },
    remembering('conversation-1'),
  )
})

test('nothing is resumed without a conversation, or with a deleted one', async () => {
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

test('an answer is regenerated by the retry endpoint; a missing answer is requested again', async () => {
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

/** Sends the first events and keeps the stream open. */
const running: Handler = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const frames = answerEvents
    .slice(0, 5)
    .map((event, i) => `id: ${i + 1}\ndata: ${JSON.stringify(event)}\n\n`)
  response.write(frames.join(''))
}

test("the chat's own stop only detaches; the transport's stop ends the answer, even before it begins", async () => {
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

test('unsupported content is reported, and nothing is sent', async () => {
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

test('stored messages are converted to messages of the page, step by step', () => {
  const [asked, answer] = toUIMessages([question, storedAnswer], 'conversation-1')
  assert.deepEqual(asked, {
    id: question.id,
    role: 'user',
    metadata: { conversationId: 'conversation-1' },
    parts: question.parts,
  })
  assert.deepEqual(answer?.parts, [
    { type: 'step-start' },
    { type: 'text', text: 'Let me look.', state: 'done' },
    {
      type: 'tool-opening_hours',
      toolCallId: 'call-1',
      state: 'output-available',
      input: { day: 'Monday' },
      output: { status: 'success', data: { open: true } },
      providerExecuted: true,
    },
    { type: 'step-start' },
    { type: 'text', text: 'We are open.', state: 'done' },
    { type: 'data-sources', data: { sources: storedAnswer.metadata?.sources } },
  ])
})

test('the folder contains only the client, which compiles in a strict project for browsers', async (t) => {
  const project = mkdtempSync(join(tmpdir(), 'parley-client-'))
  t.after(() => rmSync(project, { recursive: true }))
  const root = join(import.meta.dirname, '../..')
  cpSync(join(root, 'client'), join(project, 'src/parley'), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'))
  // These are the compiler options of Vite's TypeScript template.
  const compilerOptions = {
    target: 'es2023',
    lib: ['ES2023', 'DOM'],
    module: 'esnext',
    types: [],
    skipLibCheck: true,
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    verbatimModuleSyntax: true,
    moduleDetection: 'force',
    noEmit: true,
    strict: true,
    noUnusedLocals: true,
    noUnusedParameters: true,
    erasableSyntaxOnly: true,
    noFallthroughCasesInSwitch: true,
    noUncheckedSideEffectImports: true,
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }))
  for (const exact of ['false', 'true']) {
    const { stdout } = await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), [
      ...['-p', project],
      ...['--exactOptionalPropertyTypes', exact],
    ]).catch((error: { stdout: string }) => error)
    assert.equal(stdout, '', `exactOptionalPropertyTypes: ${exact}`)
  }
})
