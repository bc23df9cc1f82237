import type { Selectable } from 'kysely'
import type { Context } from '../../../context.ts'
import type { Db } from '../../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { MessagingAccountsTable, MessagingNumber } from '../../../platform/db/tables/channels.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { type Details, refuseInvalid } from '../../../platform/http/input/validate.ts'
import { placeOfRow } from '../../../platform/secrets/sealed-columns.ts'
import { chooseAdapter } from './choose-adapter.ts'
import type { Access, ProviderAdapter } from './provider-adapter.ts'

/** Names and payloads of the messaging jobs. */
export const READ_NUMBERS = 'read-messaging-numbers'

export type ReadNumbers = { agentId: string }

type NewAccount = {
  businessAccountId: string
  accessToken?: string
  appSecret?: string
  verifyToken?: string
}

/** A connected business account with its secrets in clear text, which must not appear in a response or a log. */
export type MessagingAccount = Access & {
  accountId: AccountId
  agentId: string
  businessAccountId: string
  adapter: ProviderAdapter
  appSecret: string
  verifyToken: string
  numbers: MessagingNumber[] | null
  numbersReadAt: Date | null
  /** Why the last request to the provider failed. */
  error: string | null
  checkedAt: Date | null
  /** The access token as it is stored; it is another one after each change. */
  sealedToken: string
}

type Deps = Pick<Context, 'db' | 'secrets'>

/**
 * Connects the agent to exactly these accounts. A job of the same transaction requests their numbers. Secrets that
 * are left out stay as they are for an account that is already connected. Throws VALIDATION_INVALID_BODY if the
 * account is new or its server is another one, which must not get the secrets of the one before.
 */
export async function putConnection(
  { db, secrets, jobs }: Deps & Pick<Context, 'jobs'>,
  { accountId, agentId }: AgentRef,
  { accounts, baseUrl }: { accounts: NewAccount[]; baseUrl: string | null },
): Promise<void> {
  await transact(db, async (trx) => {
    const kept = accounts.map(({ businessAccountId }) => businessAccountId)
    await trx
      .deleteFrom('messaging_accounts')
      .where(ofAgent({ accountId, agentId }))
      .where('business_account_id', 'not in', kept)
      .execute()
    const before = await trx
      .selectFrom('messaging_accounts')
      .selectAll()
      .where(ofAgent({ accountId, agentId }))
      .forUpdate()
      .execute()
    refuseInvalid(missingSecrets(accounts, before, baseUrl))
    for (const [position, account] of accounts.entries()) {
      const { businessAccountId } = account
      const placeOf = placesOf(agentId, businessAccountId)
      const old = before.find(({ business_account_id }) => business_account_id === businessAccountId)
      const sealed = async (field: Secret): Promise<string> => {
        const given = account[field]
        if (given !== undefined) return secrets.encrypt(trx, given, placeOf(COLUMNS[field]))
        return old?.[COLUMNS[field]] ?? ''
      }
      const values = {
        access_token: await sealed('accessToken'),
        app_secret: await sealed('appSecret'),
        verify_token: await sealed('verifyToken'),
        base_url: baseUrl,
        position,
      }
      await trx
        .insertInto('messaging_accounts')
        .values({
          agent_id: agentId,
          business_account_id: account.businessAccountId,
          account_id: accountId,
          ...values,
          numbers: null,
          error: null,
        })
        .onConflict((conflict) =>
          conflict.columns(['agent_id', 'business_account_id']).doUpdateSet({
            ...values,
            numbers_read_at: null,
            error: null,
            checked_at: null,
            updated_at: new Date(),
          }),
        )
        .execute()
    }
    await jobs.enqueue<ReadNumbers>(trx, READ_NUMBERS, { agentId })
  })
}

const COLUMNS = { accessToken: 'access_token', appSecret: 'app_secret', verifyToken: 'verify_token' } as const
type Secret = keyof typeof COLUMNS

function missingSecrets(
  accounts: NewAccount[],
  before: Selectable<MessagingAccountsTable>[],
  baseUrl: string | null,
): Details {
  const fields = Object.keys(COLUMNS) as Secret[]
  return Object.fromEntries(
    accounts.flatMap((account, place) => {
      const keeps = before.some(
        ({ business_account_id, base_url }) =>
          business_account_id === account.businessAccountId && base_url === baseUrl,
      )
      const missing = keeps ? [] : fields.filter((field) => account[field] === undefined)
      return missing.map((field) => [`accounts.${place}.${field}`, 'Is required for a new account.'])
    }),
  )
}

export async function deleteConnection(db: Db, ref: AgentRef): Promise<void> {
  await db.deleteFrom('messaging_accounts').where(ofAgent(ref)).execute()
}

/** Returns the business accounts of an agent in the order in which they were given. */
export async function accountsOf({ db, secrets }: Deps, agentId: string): Promise<MessagingAccount[]> {
  const rows = await db
    .selectFrom('messaging_accounts')
    .selectAll()
    .where('agent_id', '=', agentId)
    .orderBy('position')
    .execute()
  return Promise.all(rows.map((row) => openRow(secrets, row)))
}

/** Does the same as accountsOf, but throws MESSAGING_NOT_CONNECTED when there is none. */
export async function requireAccounts(ctx: Deps, agentId: string): Promise<MessagingAccount[]> {
  const accounts = await accountsOf(ctx, agentId)
  if (accounts.length === 0) throw new ApiError('MESSAGING_NOT_CONNECTED')
  return accounts
}

const placesOf = (agentId: string, businessAccountId: string) => (column: string) =>
  placeOfRow('messaging_accounts', `${agentId}/${businessAccountId}`, column)

async function openRow(
  secrets: Context['secrets'],
  row: Selectable<MessagingAccountsTable>,
): Promise<MessagingAccount> {
  const placeOf = placesOf(row.agent_id, row.business_account_id)
  return {
    accountId: row.account_id,
    agentId: row.agent_id,
    businessAccountId: row.business_account_id,
    adapter: chooseAdapter(row),
    accessToken: await secrets.decrypt(row.access_token, placeOf('access_token')),
    appSecret: await secrets.decrypt(row.app_secret, placeOf('app_secret')),
    verifyToken: await secrets.decrypt(row.verify_token, placeOf('verify_token')),
    baseUrl: row.base_url,
    numbers: row.numbers,
    numbersReadAt: row.numbers_read_at,
    error: row.error,
    checkedAt: row.checked_at,
    sealedToken: row.access_token,
  }
}
