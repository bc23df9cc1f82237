import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Chat } from '@ai-sdk/react'
import { DefaultChatTransport, type UIMessage } from 'ai'
import {
  prepareReconnectToStreamRequest,
  prepareSendMessagesRequest,
} from '../../client/default-transport.ts'
import { answerEvents, ids } from './sample-answer.ts'
import { sendEvents, startScriptedService } from './scripted-service.ts'

test("the AI SDK's own transport sends requests that the service accepts", async () => {
  const service = await startScriptedService((seen, response) => {
    if (seen.path.endsWith('/stream')) response.writeHead(204).end()
    else sendEvents(response, answerEvents)
  })
  const transport = new DefaultChatTransport<UIMessage>({
    api: `${service.url}/agents/agent/chat`,
    headers: { 'x-page': 'yes' },
    prepareSendMessagesRequest,
    prepareReconnectToStreamRequest,
  })
  const chat = new Chat<UIMessage>({ id: 'conversation-1', transport })
  await chat.sendMessage({ text: 'Hello' }, { body: { userId: 'ada' } })
  await chat.sendMessage({ text: 'Again' })
  await chat.regenerate({ messageId: ids.messageId, body: { conversationId: 'conversation-1' } })
  assert.equal(chat.error, undefined)
  await chat.resumeStream()
  await chat.resumeStream({ body: { conversationId: 'other' } })
  assert.deepEqual(
    service.seen.map(({ method, path, body }) => [method, path.replace('/agents/agent', ''), body]),
    [
      ['POST', '/chat', { message: 'Hello', userId: 'ada' }],
      ['POST', '/chat', { message: 'Again', conversationId: 'conversation-1' }],
      ['POST', '/conversations/conversation-1/retry', { messageId: ids.messageId }],
      ['GET', '/conversations/conversation-1/stream', undefined],
      ['GET', '/conversations/other/stream', undefined],
    ],
  )
  const posts = service.seen.filter(({ method }) => method === 'POST')
  assert.equal(new Set(posts.map(({ headers }) => headers['idempotency-key'])).size, 3)
  assert.ok(service.seen.every(({ headers }) => headers['x-page'] === 'yes'))
  await service.close()
})
