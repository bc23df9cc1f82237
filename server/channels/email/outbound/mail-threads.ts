import type { ThreadRow } from '../../../inbox/deliveries/enqueue-delivery.ts'
import type { ThreadPeople } from '../../../inbox/deliveries/mail-people.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { MailPeople } from '../../../platform/db/tables/channels.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'

/** The content of channel_threads.data for a mail thread. */
export type MailThread = ThreadPeople & {
  subject: string
  /** The addresses whose mails belong to the thread: those that its mails name. */
  participants: string[]
  /** The Message-IDs, oldest first. */
  references: string[]
  /** The Message-ID that an answer refers to. */
  lastReceived: string | null
}

/** Only the first and the newest are kept, so that headers stay short (RFC 5322, 3.6.4). */
const MAX_REFERENCES = 20

export const mailThreadOf = ({ data }: Pick<ThreadRow, 'data'>): MailThread | null =>
  'to' in data ? (data as MailThread) : null

export function withReference(references: string[], messageId: string): string[] {
  const all = [...references.filter((known) => known !== messageId), messageId]
  return all.length <= MAX_REFERENCES ? all : [...all.slice(0, 1), ...all.slice(1 - MAX_REFERENCES)]
}

/**
 * Returns what a mail with chosen recipients changes: its people get the next answers, and theirs belong to the thread.
 * Nobody knows of the people in Bcc, so their answers begin threads of their own.
 */
export function peopleAfter(
  { to, participants }: MailThread,
  people: MailPeople,
): Pick<MailThread, 'alsoTo' | 'cc' | 'answersCc' | 'participants'> {
  const seen = [...people.to, ...people.cc]
  const cc = seen.filter(({ address }) => address !== to.address)
  return {
    alsoTo: null,
    cc,
    answersCc: cc,
    participants: [...new Set([...participants, ...seen.map(({ address }) => address)])],
  }
}

/** Locks the row of a thread and changes its data. `change` is given null when there is no data yet. */
export async function changeMailThread(
  trx: Trx,
  accountId: AccountId,
  threadId: string,
  change: (thread: MailThread | null) => MailThread | null,
): Promise<void> {
  const row = await trx
    .selectFrom('channel_threads')
    .select('data')
    .where(ownRow(accountId, threadId))
    .forNoKeyUpdate()
    .executeTakeFirst()
  const changed = row ? change(mailThreadOf(row)) : null
  if (!changed) return
  await trx
    .updateTable('channel_threads')
    .set({ data: json(changed) })
    .where(ownRow(accountId, threadId))
    .execute()
}

/** Returns the subject without the mark of answers, with which the thread holds it. */
export const subjectAsked = ({ subject }: Pick<MailThread, 'subject'>): string => subject.replace(/^Re: /, '')
