import { recordAudit } from '../../accounts/audit/audit.ts'
import { DEFAULT_PLAN } from '../../accounts/plans/plans.ts'
import { readUsage } from '../../accounts/plans/read-usage.ts'
import { usageRange } from '../../accounts/plans/usage.ts'
import { usageCsv } from '../../accounts/plans/usage-csv.ts'
import {
  changePlan,
  createAccount,
  listAccounts,
  MAX_IDLE_HOURS,
  setIdleHours,
} from '../../accounts/records/accounts.ts'
import { writeWhole } from '../backup/write-whole.ts'
import { type Command, command, required, usageFailure } from '../command.ts'
import { accountOf, findAccount, planName } from './find-account.ts'

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

export const accountList = command({
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
    accounts.map(({ id, plan, name }) => `${id}  ${plan.padEnd(10)}  ${name}`).join('\n') ||
    'There is no account yet.',
})

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
  print: ({ id, plan }) => `${id} is now on the plan ${plan}.`,
}

export const usageExport: Command = {
  name: 'usage export',
  usage: '[--account ID] [--from DAY] [--to DAY] FILE',
  summary: 'Writes what an account used by day and agent into a CSV file: credits, models, embeddings',
  options: { account: text, from: text, to: text },
  positionals: { count: 1, paths: true },
  async run({ db }, input) {
    const [file = ''] = input.positionals
    const { from, to } = input.values
    const account = await accountOf(db, input)
    for (const day of [from, to])
      if (day !== undefined && !isDay(day)) throw usageFailure(`${day} is no day; write it as 2027-01-31.`)
    const range = usageRange({
      ...(from === undefined ? {} : { startDate: from }),
      ...(to === undefined ? {} : { endDate: to }),
    })
    const used = await readUsage(db, account.id, range, null)
    await writeWhole(
      file,
      (async function* () {
        yield usageCsv(used)
      })(),
    )
    return { file, rows: used.days.length + used.models.length + used.embeddings.length }
  },
  print: ({ file, rows }) => `${file}: ${rows} rows.`,
}

const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

export const accountIdle: Command = {
  name: 'account idle',
  usage: 'ID HOURS|default',
  summary: 'Sets the number of hours without activity after which conversations of channels end',
  options: {},
  positionals: { count: 2 },
  async run({ db }, { positionals: [id = '', hours = ''] }) {
    const idleHours = hours === 'default' ? null : Number(hours)
    const fits = (n: number): boolean => Number.isInteger(n) && n >= 1 && n <= MAX_IDLE_HOURS
    if (idleHours !== null && !fits(idleHours))
      throw usageFailure(`HOURS must be a whole number from 1 to ${MAX_IDLE_HOURS}, or default.`)
    const account = await findAccount(db, id)
    await db.transaction().execute(async (trx) => {
      await setIdleHours(trx, account.id, idleHours)
      await recordAudit(trx, {
        accountId: account.id,
        actor: 'operator',
        action: 'account.idle',
        target: String(idleHours ?? 'default'),
      })
    })
    return { id: account.id, idleHours }
  },
  print: ({ idleHours }) =>
    idleHours === null
      ? 'Conversations of channels end after the usual 24 hours without activity.'
      : `Conversations of channels end after ${idleHours} hours without activity.`,
}
