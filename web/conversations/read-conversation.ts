import { call, type Message } from '../app/api.ts'

/**
 * Returns the options of `useQuery` for a conversation of any channel and its messages. It uses the export because
 * the endpoint for a single conversation serves only conversations of the API.
 */
export const readingConversation = (agentId: string, conversationId: string) => ({
  queryKey: ['/agents/{agentId}/conversations/{conversationId}', { agentId, conversationId }] as const,
  queryFn: async () => {
    const { data } = await call('GET', '/agents/{agentId}/conversations/export', {
      params: { agentId },
      query: { conversationId },
    })
    const conversation = data[0]
    if (!conversation) throw new Error('The conversation is gone.')
    return { ...conversation, messages: (conversation.messages ?? []) as Message[] }
  },
})
