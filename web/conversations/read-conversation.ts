import { call, type Message } from '../app/api.ts'

/** A conversation of whatever channel with its messages, for useQuery; the endpoint of one knows those of the API only. */
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
