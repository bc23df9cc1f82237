import { recordAudit } from '../../accounts/audit/audit.ts'
import { eraseUser } from '../../people/privacy/erasing/erase-user.ts'
import { addErasure } from '../../people/privacy/erasing/erasures.ts'
import { noCounts, userLines } from '../../people/privacy/exporting/export-user.ts'
import { type AskedPerson, findPerson } from '../../people/privacy/person/find-person.ts'
import { MAX_DAYS } from '../../people/privacy/person/limits.ts'
import { setRetention } from '../../people/privacy/retention/retention.ts'
import type { Db } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { PersonNames } from '../../platform/db/tables/privacy.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { writeWhole } from '../backup/write-whole.ts'
import { type Command, CommandFailure, type Input, required, usageFailure } from '../command.ts'
import { findAccount, findAgent } from './find-account.ts'

const text = { type: 'string' as const }
const personOptions = { account: text, 'user-id': text, 'contact-id': text, email: text, phone: text }
const PERSON = '--account ID (--user-id U | --contact-id C | --email E | --phone P)'

export const userExport: Command = {
  name: 'user export',
  usage: `${PERSON} FILE`,
  summary: 'Writes everything held about an end user into a file, as NDJSON',
  options: personOptions,
  positionals: { count: 1, paths: true },
  async run({ db }, input) {
    const [file = ''] = input.positionals
    const { id } = await findAccount(db, required(input, 'account'))
    const person = await findNamed(db, id, input)
    const counts = noCounts()
    await writeWhole(file, userLines(db, id, person, counts))
    await recordAudit(db, { accountId: id, actor: 'operator', action: 'user.export', target: null })
    return { file, ...counts }
  },
  print: ({ file, ...counts }) => `${file}: ${listed(counts)}.`,
}

export const userErase: Command = {
  name: 'user erase',
  usage: PERSON,
  summary: 'Deletes everything about an end user from all agents of the account',
  options: personOptions,
  async run({ db, erasing }, input) {
    const { id } = await findAccount(db, required(input, 'account'))
    const person = await findNamed(db, id, input)
    const erasure = await db.transaction().execute((trx) => addErasure(trx, id, 'operator', person))
    const { conversations, messages, leads, tickets, contacts } = await eraseUser({ db, ...erasing }, erasure)
    return { erasure: erasure.id, contacts, conversations, messages, leads, tickets }
  },
  print: ({ erasure: _id, ...counts }) => `Erased: ${listed(counts)}.`,
}

export const retentionShow: Command = {
  name: 'retention show',
  usage: '--agent ID',
  summary: 'Shows how long an agent’s conversations are kept',
  options: { agent: text },
  async run({ db }, input) {
    const { retention_days } = await findAgent(db, required(input, 'agent'))
    return { retentionDays: retention_days }
  },
  print: printRetention,
}

export const retentionSet: Command = {
  name: 'retention set',
  usage: '--agent ID --days N|off',
  summary: 'Sets the number of days without activity after which conversations are deleted',
  options: { agent: text, days: text },
  async run({ db }, input) {
    const days = required(input, 'days')
    const retentionDays = days === 'off' ? null : Number(days)
    const fits = (n: number): boolean => Number.isInteger(n) && n >= 1 && n <= MAX_DAYS
    if (retentionDays !== null && !fits(retentionDays))
      throw usageFailure(`--days must be a whole number from 1 to ${MAX_DAYS}, or off.`)
    const agent = await findAgent(db, required(input, 'agent'))
    const place = { accountId: agent.account_id, agentId: agent.id, actor: 'operator' }
    await setRetention(db, place, retentionDays)
    return { retentionDays }
  },
  print: printRetention,
}

function printRetention({ retentionDays }: Record<string, unknown>): string {
  return retentionDays === null
    ? 'Conversations are kept forever.'
    : `Conversations are deleted after ${retentionDays} days without activity.`
}

const listed = (counts: Record<string, unknown>): string =>
  Object.entries(counts)
    .map(([what, n]) => `${n} ${what}`)
    .join(', ')

async function findNamed(db: Db, accountId: AccountId, { values }: Input): Promise<PersonNames> {
  const { 'user-id': userId, 'contact-id': contactId, email, phone } = values
  const asked = Object.entries({ userId, contactId, email, phone }).filter(([, value]) => value?.trim())
  if (asked.length !== 1) throw usageFailure('Give exactly one of --user-id, --contact-id, --email, --phone.')
  try {
    return await findPerson(db, accountId, Object.fromEntries(asked) as AskedPerson)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new CommandFailure(Object.values(error.details ?? {})[0] ?? error.message)
  }
}
