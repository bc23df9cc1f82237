import { isBlocked } from '../../../inbox/spam/blocked-senders.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { isSameMailbox, type MailAddress } from '../../../platform/mail/mail-address.ts'
import type { ConnectionRow } from '../connection/connection.ts'
import type { ParsedMail } from '../parse/parsed-mail.ts'
import { isListOf } from './automatic-mail.ts'
import { exceedsMailRate } from './mail-rate.ts'

/** A mail to more people than this is a circular, and the answer goes to its sender alone. */
const MAX_OTHERS = 20
/** The agent answers no more people than this beside the sender. */
const MAX_ANSWERED = 5

/**
 * Returns the people beside its sender whom a mail was sent to and who read the answers to it as well: nobody who is a
 * mailbox of the account.
 */
export async function otherPeople(
  trx: Trx,
  row: ConnectionRow,
  { to, cc, from, replyTo, lists, deliveredTo, automatic }: ParsedMail,
): Promise<MailAddress[]> {
  const isOwnList = lists !== null && isListOf(lists, row.address)
  if (automatic && !isOwnList) return []
  const mailboxes = await mailboxesOf(trx, row)
  const isOurs = (address: string): boolean =>
    mailboxes.some((mailbox) => isSameMailbox(address, mailbox)) || deliveredTo.includes(address)
  const isNamed = [...to, ...cc].some(({ address }) => isOurs(address))
  // A mailbox that is not named got the mail by an alias, which is one of those in To.
  const people = isNamed ? [...to, ...cc] : cc
  const senders = [from?.address, replyTo?.address]
  const others = people.filter(
    ({ address }) => !isOurs(address) && !senders.includes(address) && !(lists?.includes(address) ?? false),
  )
  return others.length > MAX_OTHERS ? [] : others
}

/**
 * Returns those of the other people to whom the agent's own answer goes. A sender who could not be verified may be
 * somebody who wants mails to be sent to them.
 */
export async function answeredOthers(
  trx: Trx,
  row: ConnectionRow,
  { isVerified }: Pick<ParsedMail, 'isVerified'>,
  others: MailAddress[],
): Promise<MailAddress[]> {
  if (!isVerified || others.length > MAX_ANSWERED) return []
  const ref = { accountId: row.account_id, agentId: row.agent_id }
  const answered: MailAddress[] = []
  for (const person of others) {
    const { address } = person
    if (await isBlocked(trx, ref, address)) continue
    if (!(await exceedsMailRate(trx, row, [address]))) answered.push(person)
  }
  return answered
}

async function mailboxesOf(trx: Trx, { account_id, address }: ConnectionRow): Promise<string[]> {
  const rows = await trx
    .selectFrom('email_connections')
    .select('address')
    .where('account_id', '=', account_id)
    .execute()
  return [address, ...rows.map((row) => row.address)]
}
