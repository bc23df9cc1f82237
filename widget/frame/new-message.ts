import type { Message, SentFile } from './types.ts'

/** Creates a message in the form in which the service stores it. */
export const newMessage = (
  role: Message['role'],
  id: string,
  text: string,
  files: SentFile[] = [],
): Message => ({
  id,
  role,
  text,
  createdAt: Math.floor(Date.now() / 1000),
  feedback: null,
  sources: [],
  attachments: files.map(({ id: _, ...file }) => ({ ...file, url: null })),
  author: null,
  isSilent: false,
  offer: null,
  pendingCalls: [],
})
