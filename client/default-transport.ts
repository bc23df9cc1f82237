import type { PrepareReconnectToStreamRequest, PrepareSendMessagesRequest, UIMessage } from 'ai'
import { randomKey } from './random-key.ts'
import { conversationIn, messageText } from './ui-messages.ts'

/**
 * Converts the requests of DefaultChatTransport into those of the service; `api` must be the URL of the agent's chat
 * endpoint. It neither submits the results of client actions nor recovers from a broken connection; the transport in
 * use-chat.ts does both.
 */
export const prepareSendMessagesRequest: PrepareSendMessagesRequest<UIMessage> = ({
  api,
  messages,
  trigger,
  messageId,
  body,
  headers,
}) => {
  const conversationId = conversationIn(messages) ?? body?.conversationId
  const newest = messages.at(-1)
  const sent = new Headers(headers)
  sent.set('idempotency-key', randomKey())
  if (trigger === 'regenerate-message') {
    if (conversationId === undefined || messageId === undefined) {
      throw new Error('Call regenerate with messageId and, for the first answer, body: { conversationId }.')
    }
    return { api: beside(api, conversationId, 'retry'), headers: sent, body: { messageId } }
  }
  const message = newest?.role === 'user' ? messageText(newest) : undefined
  const userId = conversationId === undefined ? body?.userId : undefined
  return { headers: sent, body: { message, conversationId, userId } }
}

/**
 * Takes the conversation's id from `resumeStream({ body: { conversationId } })`. Without it, the chat's id must be
 * the conversation's id.
 */
export const prepareReconnectToStreamRequest: PrepareReconnectToStreamRequest = ({
  api,
  id,
  body,
  headers,
}) => ({
  api: beside(api, body?.conversationId ?? id, 'stream'),
  ...(headers === undefined ? {} : { headers }),
})

const beside = (api: string, conversationId: string, endpoint: string): string =>
  `${api.replace(/\/chat\/?$/, '')}/conversations/${encodeURIComponent(conversationId)}/${endpoint}`
