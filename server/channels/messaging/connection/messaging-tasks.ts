/** Names and payloads of the messaging jobs. */
export const READ_NUMBERS = 'read-messaging-numbers'
export type ReadNumbers = { agentId: string }

export const FETCH_FILES = 'fetch-messaging-files'
export type FetchFiles = { threadId: string; providerMessageId: string }
