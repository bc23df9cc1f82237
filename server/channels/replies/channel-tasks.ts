/** Names and payloads of the channels' jobs. */
export const TAKE_IN = 'take-in-messages'
export type TakeIn = { threadId: string }

export const ANSWER = 'answer-conversation'
export type Answer = { conversationId: string }
