import Type from 'typebox'
import { CitedSource } from '../../knowledge/search/answering/schema.ts'
import { Exact, OneOf } from '../../platform/http/contract.ts'
import { ChatbotId, version1 } from '../schema.ts'

/** A message as it is sent. Programs send back what get-conversations returned, including the ids. */
const Message = Type.Object({ role: OneOf(['user', 'assistant']), content: Type.String() })

export const chat = version1({
  method: 'POST',
  path: '/chat',
  name: 'chat',
  tag: 'Chat',
  summary: 'Send messages to a chatbot',
  scope: 'chat',
  body: Exact({
    chatbotId: ChatbotId,
    messages: Type.Array(Message, {
      minItems: 1,
      maxItems: 100,
      rule: (messages: { role: string; content: string }[]) =>
        messages.at(-1)?.role === 'user' && messages.at(-1)?.content !== ''
          ? null
          : 'The last message must be the user’s, with some text.',
    }),
    conversationId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    contactId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    // One of the installation's models: see withModels.
    model: Type.Optional(Type.String()),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    stream: Type.Boolean({ default: false }),
  }),
  success: {
    status: 200,
    schema: Exact({
      text: Type.String(),
      sources: Type.Array(CitedSource, { description: '[n] in the text refers to the n-th source' }),
    }),
  },
  streams: Type.Union([
    Exact({ text: Type.String({ description: 'A piece of the reply' }) }),
    Exact({ sources: Type.Array(CitedSource, { description: 'The second to last event, named sources' }) }),
  ]),
  errors: [
    'AGENT_NOT_FOUND',
    'RESOURCE_NOT_FOUND',
    'CHAT_CREDITS_EXHAUSTED',
    'CHAT_AGENT_CREDITS_EXHAUSTED',
    'CHAT_MODEL_NOT_ALLOWED',
    'CHAT_CONVERSATION_NOT_ONGOING',
    'CHAT_CONVERSATION_BUSY',
    'CHAT_PROVIDER_ERROR',
    'SERVICE_OVERLOADED',
  ],
})
