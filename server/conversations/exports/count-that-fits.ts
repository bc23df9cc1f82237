/** Messages in one answer; a conversation alone may have more. */
const MAX_MESSAGES = 20_000

/** How many of the conversations, one at least, fit into one answer. */
export function countThatFits(rows: readonly { last_seq: number; cut_messages: number }[]): number {
  let messages = 0
  const first = rows.findIndex(({ last_seq, cut_messages }) => {
    messages += last_seq - cut_messages
    return messages > MAX_MESSAGES
  })
  return first === -1 ? Math.max(1, rows.length) : Math.max(1, first)
}
