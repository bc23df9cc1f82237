import Type from 'typebox'
import { NewAnswerCase } from '../../../conversations/playground/answer-tests/schema.ts'
import { Exact, endpointsOf } from '../../../platform/http/contract.ts'

const endpoint = endpointsOf('Answer tests')

export const proposeFromConversation = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/answer-cases/from-conversation',
  name: 'proposeCaseFromConversation',
  summary: 'Propose a case from a conversation',
  description:
    'Stores nothing: show the proposal to a person, who changes it and confirms it with `POST /agents/{agentId}/answer-cases`. It has what the customer wrote up to an answer and what actions returned. What is known of the customer (names, addresses, numbers, ids, attributes) and any other address and number in what the customer wrote is replaced by marks such as `[name]`, the same value by the same mark. Other people and inflected names are not recognised. A correction of the answer, or what a member replied, becomes what a right answer says. Send on `conversationId`, so that the case is deleted with its conversation.',
  scope: 'conversations:read',
  body: Exact({
    conversationId: Type.String({ minLength: 1 }),
    messageId: Type.Optional(
      Type.String({ minLength: 1, description: 'The answer that is tested; default: the last one' }),
    ),
  }),
  success: {
    status: 200,
    schema: Exact({
      case: Exact({ ...NewAnswerCase.properties, conversationId: Type.String() }),
      marks: Type.Array(Type.String(), { description: 'What stands for something personal' }),
      answer: Type.String({ description: 'What was answered, with the same marks' }),
    }),
  },
  errors: ['RESOURCE_NOT_FOUND', 'RESOURCE_MESSAGE_NOT_FOUND', 'RESOURCE_MESSAGE_NOT_ASSISTANT'],
})
