import { recordAudit } from '../../accounts/audit/audit.ts'
import { createKey, keysOf, revokeKey } from '../../accounts/keys/keys.ts'
import { isId } from '../../platform/db/ids.ts'
import { type Scope, scopes } from '../../platform/http/contract.ts'
import { isDate, spanOf } from '../../platform/http/input/dates.ts'
import { type Command, CommandFailure, command, required, usageFailure } from '../command.ts'
import { accountOf } from './find-account.ts'

const text = { type: 'string' as const }

export const keysCreate: Command = {
  name: 'keys create',
  usage: '[--account ID] --name NAME [--scopes a,b] [--expires ISO]',
  summary: 'Creates an API key, which is shown only once',
  options: { account: text, name: text, scopes: text, expires: text },
  async run({ db }, input) {
    const name = required(input, 'name')
    const granted = scopesOf(input.values.scopes)
    const expiresAt = expiryOf(input.values.expires)
    const account = await accountOf(db, input)
    return db.transaction().execute(async (trx) => {
      const created = await createKey(trx, account.id, {
        name,
        scopes: granted,
        expiresAt,
        createdBy: 'operator',
      })
      await recordAudit(trx, {
        accountId: account.id,
        actor: 'operator',
        action: 'key.create',
        target: created.id,
      })
      return created
    })
  },
  print: ({ id, key }) => `${key}\n(id ${id}; the key is not shown again)`,
}

export const keysList = command({
  name: 'keys list',
  usage: '[--account ID]',
  summary: "Lists an account's API keys, without the keys themselves",
  options: { account: text },
  async run({ db }, input) {
    const account = await accountOf(db, input)
    const keys = await keysOf(db, account.id)
    return {
      keys: keys.map(({ expiresAt, lastUsedAt, createdAt, ...rest }) => ({
        ...rest,
        expiresAt: expiresAt?.toISOString() ?? null,
        lastUsedAt: lastUsedAt?.toISOString() ?? null,
        createdAt: createdAt.toISOString(),
      })),
    }
  },
  print: ({ keys }) =>
    keys
      .map(
        ({ id, name, prefix, state, lastUsedAt }) =>
          `${id}  ${prefix}…  ${state.padEnd(7)}  last used ${lastUsedAt ?? 'never'}  ${name}`,
      )
      .join('\n') || 'The account has no key.',
})

export const keysRevoke: Command = {
  name: 'keys revoke',
  usage: 'ID',
  summary: 'Revokes an API key; every process refuses it within a second',
  options: {},
  positionals: { count: 1 },
  async run({ db }, { positionals: [id = ''] }) {
    const key = isId(id)
      ? await db.selectFrom('api_keys').select('account_id').where('id', '=', id).executeTakeFirst()
      : undefined
    if (!key) throw new CommandFailure(`There is no key ${id}.`)
    await db.transaction().execute(async (trx) => {
      await revokeKey(trx, id)
      await recordAudit(trx, {
        accountId: key.account_id,
        actor: 'operator',
        action: 'key.revoke',
        target: id,
      })
    })
    return { id, revoked: true }
  },
  print: ({ id }) => `${id} is revoked.`,
}

const isScope = (name: string): name is Scope => scopes.some((scope) => scope === name)

function scopesOf(list: string | undefined): Scope[] | null {
  if (list === undefined) return null
  const wanted = list.split(',').map((scope) => scope.trim())
  const strange = wanted.find((scope) => !isScope(scope))
  if (strange !== undefined)
    throw usageFailure(`There is no scope "${strange}"; the scopes are ${scopes.join(', ')}.`)
  return wanted.filter(isScope)
}

function expiryOf(text: string | undefined): Date | null {
  if (text === undefined) return null
  if (!isDate(text))
    throw usageFailure(`--expires must be an ISO 8601 time like 2027-01-31T00:00:00Z, not "${text}".`)
  const { from } = spanOf(text)
  if (from > new Date()) return from
  throw usageFailure(`--expires is ${from.toISOString()}, which has passed: the key would never work.`)
}
