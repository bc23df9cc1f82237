import type { Trx } from '../../../db/database.ts'
import { json } from '../../../db/statements/json.ts'
import type { AccountId } from '../../../db/tables/columns.ts'
import type { ThreadRow } from '../../../deliveries/enqueue-delivery.ts'
import type { MailAddress } from '../parse/mail-address.ts'

/** What channel_threads.data holds for a thread of mails. */
export type MailThread = {
  subject: string
  /** Who is answered: whoever began it, and never an address that only a later mail names. */
  to: MailAddress
  /** Whose mails belong to it: those whom the first mail names. */
  participants: string[]
  /** Message-IDs, oldest first. */
  references: string[]
  /** What an answer answers. */
  lastReceived: string | null
  /** Who wrote last, if not the one who is answered. */
  alsoTo: string | null
}

/** The first one and the newest: headers do not grow without end (RFC 5322, 3.6.4). */
const MOST_REFERENCES = 20

export const mailThreadOf = ({ data }: Pick<ThreadRow, 'data'>): MailThread | null =>
  'to' in data ? (data as MailThread) : null

export function withReference(references: string[], messageId: string): string[] {
  const all = [...references.filter((known) => known !== messageId), messageId]
  return all.length <= MOST_REFERENCES ? all : [...all.slice(0, 1), ...all.slice(1 - MOST_REFERENCES)]
}

/** Changes what a thread holds while its row is locked; `change` gets null for a thread that holds nothing yet. */
export async function changeMailThread(
  trx: Trx,
  accountId: AccountId,
  threadId: string,
  change: (thread: MailThread | null) => MailThread | null,
): Promise<void> {
  const row = await trx
    .selectFrom('channel_threads')
    .select('data')
    .where('account_id', '=', accountId)
    .where('id', '=', threadId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  const changed = row ? change(mailThreadOf(row)) : null
  if (!changed) return
  await trx
    .updateTable('channel_threads')
    .set({ data: json(changed) })
    .where('account_id', '=', accountId)
    .where('id', '=', threadId)
    .execute()
}
