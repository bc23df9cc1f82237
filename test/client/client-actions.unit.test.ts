import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Chat } from '@ai-sdk/react'
import { lastAssistantMessageIsCompleteWithToolCalls, type UIMessage } from 'ai'
import { pendingToolCalls } from '../../client/ui-messages.ts'
import { continuationEvents, question, waitingAnswer, waitingEvents } from './sample-answer.ts'
import { sendError, sendEvents, sendJson } from './scripted-service.ts'
import {
  nothingRuns,
  remembering,
  type Script,
  shown,
  stored,
  streamed,
  until,
  withChat,
} from './try-chat.ts'

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

/** Returns the script of a chat whose first answer calls a client action and whose second continues from its result. */
const actionScript = (): Script => {
  let answers = 0
  return {
    chat: (response) => sendEvents(response, answers++ === 0 ? waitingEvents : continuationEvents),
    messages: stored(question, waitingAnswer),
    'tool-result': (response) => sendJson(response, { data: { success: true } }),
  }
}

test('an action runs in the page, its result is submitted once, and the same message continues', async () => {
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

test('a result that was already submitted elsewhere is not an error', async () => {
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

test('a page that is reloaded while its action waits runs it and continues', async () => {
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
