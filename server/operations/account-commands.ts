import { changePlan, createAccount, listAccounts } from '../accounts/accounts.ts'
import { recordAudit } from '../accounts/audit.ts'
import { DEFAULT_PLAN } from '../accounts/plans.ts'
import { type Command, required } from './command.ts'
import { findAccount, planName } from './find-account.ts'

const text = { type: 'string' as const }

export const accountCreate: Command = {
  name: 'account create',
  usage: '--name NAME [--plan PLAN]',
  summary: 'Adds an account',
  options: { name: text, plan: text },
  async run({ db }, input) {
    const plan = planName(input.values.plan ?? DEFAULT_PLAN)
    const name = required(input, 'name')
    return db.transaction().execute(async (trx) => {
      const id = await createAccount(trx, name, plan)
      await recordAudit(trx, { accountId: id, actor: 'operator', action: 'account.create', target: id })
      return { id }
    })
  },
  print: ({ id }) => String(id),
}

export const accountList: Command = {
  name: 'account list',
  usage: '',
  summary: 'Lists the accounts',
  options: {},
  async run({ db }) {
    const accounts = await listAccounts(db)
    return {
      accounts: accounts.map(({ createdAt, ...rest }) => ({ ...rest, createdAt: createdAt.toISOString() })),
    }
  },
  print: ({ accounts }) =>
    (accounts as { id: string; plan: string; name: string }[])
      .map(({ id, plan, name }) => `${id}  ${plan.padEnd(10)}  ${name}`)
      .join('\n') || 'There is no account yet.',
}

export const accountPlan: Command = {
  name: 'account plan',
  usage: 'ID PLAN',
  summary: "Changes an account's plan",
  options: {},
  positionals: { count: 2 },
  async run({ db }, { positionals: [id = '', name = ''] }) {
    const plan = planName(name)
    const account = await findAccount(db, id)
    await db.transaction().execute(async (trx) => {
      await changePlan(trx, account.id, plan)
      await recordAudit(trx, {
        accountId: account.id,
        actor: 'operator',
        action: 'account.plan',
        target: plan,
      })
    })
    return { id: account.id, plan }
  },
  print: ({ id, plan }) => `${id} is on the plan ${plan} now.`,
}
