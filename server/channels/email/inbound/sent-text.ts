import type { ThreadRow } from '../../../inbox/deliveries/enqueue-delivery.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { isAttribution } from './attribution.ts'

const MAX_SENT = 10
/** Fewer words in a row may be the same by chance. */
const MIN_WORDS = 8

/** Returns a text without the mails of the thread that it repeats, or unchanged if it consists of nothing else. */
export async function withoutSent(trx: Trx, { id, account_id }: ThreadRow, text: string): Promise<string> {
  const sent = await trx
    .selectFrom('deliveries')
    .select('content')
    .where('account_id', '=', account_id)
    .where('thread_id', '=', id)
    .where('status', 'in', ['sent', 'delivered', 'read'])
    .orderBy('ordinal', 'desc')
    .limit(MAX_SENT)
    .execute()
  const left = sent.reduce((rest, { content: { text: said, signature } }) => {
    const whole = signature === undefined ? rest : withoutText(rest, `${said}\n${signature}`)
    return whole === rest ? withoutText(rest, said) : whole
  }, text)
  return left.trim() === '' ? text : left
}

/** Removes the lines that say the same words as `sent`, and the line above them that says whose they are. */
function withoutText(text: string, sent: string): string {
  const wanted = wordsIn(sent)
  if (wanted.length < MIN_WORDS) return text
  const lines = text.split('\n')
  const said = lines.flatMap((line, at) => wordsIn(line).map((word) => ({ word, at })))
  const start = said.findIndex((_, from) => wanted.every((word, at) => said[from + at]?.word === word))
  const [first, last] = [said[start]?.at, said[start + wanted.length - 1]?.at]
  if (first === undefined || last === undefined) return text
  const before = lines.slice(0, first)
  while (before.at(-1)?.trim() === '') before.pop()
  if (isAttribution(before.at(-1) ?? '')) before.pop()
  return [...before, ...lines.slice(last + 1)].join('\n').trim()
}

const wordsIn = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
