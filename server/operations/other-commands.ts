import { recordAudit } from '../accounts/audit.ts'
import { creditState, grantCredits } from '../accounts/credits.ts'
import { createMember } from '../accounts/members.ts'
import { reconcile } from '../accounts/reconcile.ts'
import { type Command, CommandFailure, required, usageFailure } from './command.ts'
import { findAccount } from './find-account.ts'

const text = { type: 'string' as const }

export const creditsShow: Command = {
  name: 'credits show',
  usage: '--account ID',
  summary: "Shows an account's credits of this month",
  options: { account: text },
  async run({ db }, input) {
    const account = await findAccount(db, required(input, 'account'))
    const { limit, used, resetsAt } = await creditState(db, account.id, account.plan)
    return { limit, used, resetsAt: resetsAt.toISOString() }
  },
  print: ({ limit, used, resetsAt }) =>
    `${used} of ${limit ?? 'unlimited'} used; the month ends ${resetsAt}.`,
}

export const creditsGrant: Command = {
  name: 'credits grant',
  usage: '--account ID --amount N',
  summary: "Adds credits to this month's allowance",
  options: { account: text, amount: text },
  async run({ db }, input) {
    const amount = Number(required(input, 'amount'))
    if (!Number.isInteger(amount) || amount < 1 || amount > 1_000_000_000) {
      throw usageFailure('--amount must be a whole number from 1 to 1000000000.')
    }
    const account = await findAccount(db, required(input, 'account'))
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

export const memberCreate: Command = {
  name: 'member create',
  usage: '--account ID --email E --name N',
  summary: 'Adds a team member',
  options: { account: text, email: text, name: text },
  async run({ db }, input) {
    const email = required(input, 'email')
    if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email)) throw usageFailure(`"${email}" is no e-mail address.`)
    const name = required(input, 'name')
    const account = await findAccount(db, required(input, 'account'))
    const member = await createMember(db, account, { email, name })
    if (member === 'taken') throw new CommandFailure(`The account already has a member ${email}.`)
    if (member === 'full') throw new CommandFailure('The account has as many members as its plan allows.')
    return member
  },
  print: ({ id }) => String(id),
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
