import { ApiError } from '../../http/errors.ts'

/** CHAT_CONVERSATION_NOT_ONGOING, with the status in `details`. */
export const notOngoing = (status: string): ApiError =>
  new ApiError('CHAT_CONVERSATION_NOT_ONGOING', {
    message: `The conversation is ${status.replace('_', ' ')}, not ongoing. Start a new one.`,
    details: { status },
  })

/** The error for readers of an answer that its process could not finish. */
export const interrupted = (): ApiError =>
  new ApiError('SERVICE_OVERLOADED', {
    message: 'The answer was interrupted. What was said of it is kept in the conversation.',
    headers: { 'retry-after': '2' },
  })
