import Type from 'typebox'
import { Exact, endpointsOf } from '../../platform/http/contract.ts'
import { ChatAnswer, ChatErrors, StreamEvent } from '../records/schema.ts'
import { Channel, MadeOf, Version } from './schema.ts'

const endpoint = endpointsOf('Playground')

export const runPlayground = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/playground/runs',
  name: 'runPlayground',
  summary: 'Try out an answer',
  description:
    'Responds like `POST …/chat`, with settings that are not saved, and shows all actions. A run uses no credits, and its conversation (source `Playground`) is left out of lists, figures and analyses unless its source is requested. Escalations and leads are validated but not carried out; other actions run. At most 300 runs an hour are allowed.',
  scope: 'agents:write',
  body: Exact(
    {
      message: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 100_000,
          description: 'Omit it to continue after the result of a client action',
        }),
      ),
      conversationId: Type.Optional(
        Type.String({ minLength: 1, description: 'The playground conversation to continue' }),
      ),
      channel: Type.Optional(Channel),
      contactId: Type.Optional(
        Type.String({ minLength: 1, description: 'When a conversation starts: the contact who asks' }),
      ),
      version: Type.Optional(Version),
      instructions: Type.Optional(
        Type.String({ maxLength: 50_000, description: "Instead of the agent's, for this answer" }),
      ),
      model: Type.Optional(
        Type.String({ minLength: 1, maxLength: 200, description: "Instead of the agent's, for this answer" }),
      ),
      temp: Type.Optional(
        Type.Number({ minimum: 0, maximum: 1, description: "Instead of the agent's, for this answer" }),
      ),
      acceptsOffer: Type.Optional(
        Type.Boolean({ description: 'Whether the message accepts the `offer` of the answer before it' }),
      ),
      stream: Type.Boolean({ default: true }),
    },
    {
      rule: ({ message, conversationId }: { message?: string; conversationId?: string }) =>
        (message ?? conversationId) === undefined
          ? { message: 'This field is required to start a conversation.' }
          : null,
    },
  ),
  success: { status: 200, schema: ChatAnswer },
  streams: StreamEvent,
  errors: [...ChatErrors, 'CHAT_NOTHING_TO_CONTINUE'],
})

export const readPlaygroundRun = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/playground/runs/{messageId}',
  name: 'readPlaygroundRun',
  summary: 'Read how an answer of the playground was generated',
  description: 'Returns the passages, the prompt that the model received, tokens and times.',
  scope: 'agents:write',
  success: { status: 200, schema: Exact({ data: MadeOf }) },
  errors: ['RESOURCE_MESSAGE_NOT_FOUND'],
})
