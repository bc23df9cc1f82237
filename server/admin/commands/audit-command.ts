import { command, usageFailure } from '../command.ts'
import { findAccount } from './find-account.ts'

const USUAL = 100
const MAX_COUNT = 10_000

type Entry = {
  at: string
  accountId: string | null
  actor: string
  action: string
  target: string | null
  detail: Record<string, unknown> | null
}

export const auditCommand = command({
  name: 'audit',
  usage: '[--account ID] [--limit N]',
  summary: 'Shows who changed what: the newest entries of the audit log, of one account or of all',
  options: { account: { type: 'string' }, limit: { type: 'string' } },
  async run({ db }, { values }) {
    const limit = Number(values.limit ?? USUAL)
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_COUNT)
      throw usageFailure(`--limit must be a whole number from 1 to ${MAX_COUNT}.`)
    const account = values.account === undefined ? null : await findAccount(db, values.account)
    const rows = await db
      .selectFrom('audit_log')
      .selectAll()
      .$if(account !== null, (query) => query.where('account_id', '=', account?.id ?? null))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute()
    const entries = rows.map(
      ({ created_at, account_id, actor, action, target, detail }): Entry => ({
        at: created_at.toISOString(),
        accountId: account_id,
        actor,
        action,
        target,
        detail,
      }),
    )
    return { entries }
  },
  print({ entries }) {
    const lines = entries.map(({ at, accountId, actor, action, target, detail }) =>
      [at, accountId ?? '-', actor, action, target ?? '-', detail ? JSON.stringify(detail) : '']
        .join('  ')
        .trim(),
    )
    return lines.join('\n') || 'The audit log is empty.'
  },
})
