import { ApiError } from '../../http/errors.ts'

/** CHAT_CONVERSATION_NOT_ONGOING, with the status in `details`. */
export const notOngoing = (status: string): ApiError =>
  new ApiError('CHAT_CONVERSATION_NOT_ONGOING', {
    message: `The conversation is ${status.replace('_', ' ')}, not ongoing. Start a new one.`,
    details: { status },
  })
