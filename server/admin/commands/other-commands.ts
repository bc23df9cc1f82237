import { recordAudit } from '../../accounts/audit/audit.ts'
import { creditState, grantCredits } from '../../accounts/plans/credits.ts'
import { reconcile } from '../../conversations/records/reconcile-credits.ts'
import { type Command, required, usageFailure } from '../command.ts'
import { accountOf } from './find-account.ts'

const text = { type: 'string' as const }

export const creditsShow: Command = {
  name: 'credits show',
  usage: '[--account ID]',
  summary: "Shows an account's credits of this month",
  options: { account: text },
  async run({ db }, input) {
    const account = await accountOf(db, input)
    const { limit, used, resetsAt } = await creditState(db, account.id, account.plan)
    return { limit, used, resetsAt: resetsAt.toISOString() }
  },
  print: ({ limit, used, resetsAt }) =>
    `${used} of ${limit ?? 'unlimited'} used; the month ends ${resetsAt}.`,
}

export const creditsGrant: Command = {
  name: 'credits grant',
  usage: '[--account ID] --amount N',
  summary: "Adds credits to this month's allowance",
  options: { account: text, amount: text },
  async run({ db }, input) {
    const amount = Number(required(input, 'amount'))
    if (!Number.isInteger(amount) || amount < 1 || amount > 1_000_000_000) {
      throw usageFailure('--amount must be a whole number from 1 to 1000000000.')
    }
    const account = await accountOf(db, input)
    await db.transaction().execute(async (trx) => {
      await grantCredits(trx, account.id, amount)
      await recordAudit(trx, {
        accountId: account.id,
        actor: 'operator',
        action: 'credits.grant',
        target: String(amount),
      })
    })
    const { limit, used } = await creditState(db, account.id, account.plan)
    return { granted: amount, limit, used }
  },
  print: ({ granted, limit }) => `${granted} credits granted; the limit of this month is ${limit ?? 'none'}.`,
}

export const reconcileCommand: Command = {
  name: 'reconcile',
  usage: '',
  summary: 'Compares the credit ledger with what the messages cost',
  options: {},
  run: ({ db }) => reconcile(db),
  print: ({ balanced, difference }) =>
    balanced ? 'The ledger balances.' : `The ledger is off by ${difference} credits.`,
}
