import { isBlocked } from '../../../inbox/spam/blocked-senders.ts'
import type { Trx } from '../../../platform/db/database.ts'
import type { SilentReason } from '../../../platform/db/tables/channels.ts'
import type { ConnectionRow } from '../connection/connection.ts'
import type { ParsedMail } from '../parse/parsed-mail.ts'
import { isListOf } from './automatic-mail.ts'
import { exceedsMailRate } from './mail-rate.ts'
import { exceedsRepetitions, type Repetition } from './repetitive-mail.ts'

/** Allows for the difference between the clocks of two servers. */
export const SKEW_MS = 2 * 60_000
/** A mail that took longer was moved here or copied by a migration, and its sender no longer expects an answer. */
const MAX_AGE_MS = 3 * 24 * 60 * 60_000

type Judged = {
  parsed: ParsedMail
  receivedAt: Date
  /** Somebody has answered it in a mail client. */
  isAnswered: boolean
  isOwn: boolean
  /** The addresses that an answer would go to. */
  addresses: string[]
  repetition: Repetition
}

/** Returns why the agent must not answer a mail, and why it is no request to the team either; null if it may be. */
export async function silentReason(
  trx: Trx,
  row: ConnectionRow,
  { parsed, receivedAt, isAnswered, isOwn, addresses, repetition }: Judged,
): Promise<SilentReason | null> {
  if (parsed.from === null) return 'noSender'
  if (isOwn) return 'own'
  const ref = { accountId: row.account_id, agentId: row.agent_id }
  for (const address of addresses) if (await isBlocked(trx, ref, address)) return 'blocked'
  const isOwnList = parsed.lists !== null && isListOf(parsed.lists, row.address)
  if (parsed.bounce !== null || (parsed.automatic && !isOwnList)) return parsed.lists ? 'list' : 'automatic'
  // A migration gives mails the present time, but the headers keep that of the last server.
  const arrived = Math.min(receivedAt.getTime(), parsed.passedOnAt?.getTime() ?? Number.POSITIVE_INFINITY)
  if (arrived < row.reads_from.getTime() - SKEW_MS || arrived < Date.now() - MAX_AGE_MS) return 'old'
  if (isAnswered) return 'answered'
  // Many senders may name one address for the answers.
  if (await exceedsMailRate(trx, row, addresses)) return 'tooMany'
  return (await exceedsRepetitions(trx, row, addresses, repetition)) ? 'repetitive' : null
}
