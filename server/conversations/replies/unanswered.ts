import { ApiError } from '../../http/errors.ts'
import type { ConversationRow, MessageRow } from '../records/queries.ts'

/**
 * The newest message of the customer, and the history with everything unanswered at its end, as the model has to read
 * it: on channels messages come whenever they come, also while an answer is being made. Throws
 * CHAT_NOTHING_TO_CONTINUE when all is answered. The conversation's row is locked.
 */
export function readPending(
  { answered_seq }: Pick<ConversationRow, 'answered_seq'>,
  history: MessageRow[],
): { userMessageId: string; askedSeq: number; history: MessageRow[] } {
  const isOpen = ({ role, seq }: MessageRow): boolean => role === 'user' && seq > answered_seq
  const open = history.filter(isOpen)
  const newest = open.at(-1)
  if (!newest) throw new ApiError('CHAT_NOTHING_TO_CONTINUE')
  return {
    userMessageId: newest.id,
    askedSeq: newest.seq,
    history: [...history.filter((message) => !isOpen(message)), ...open],
  }
}
