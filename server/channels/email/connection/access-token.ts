import { setTimeout } from 'node:timers/promises'
import type { Selectable } from 'kysely'
import type { Context } from '../../../context.ts'
import type { EmailConnectionsTable } from '../../../platform/db/tables/channels.ts'
import { MailFailure } from '../../../platform/mail/mail-failure.ts'
import { placeOfRow } from '../../../platform/secrets/sealed-columns.ts'
import { askForTokens, type Tokens } from './ask-provider.ts'
import { operatorsClient, PRESETS } from './providers.ts'

/** Longer than a provider is waited for. */
const LEASE_MS = 20_000
const MAX_WAIT_MS = 2 * LEASE_MS
const PAUSE_MS = 200
/** A token that ends sooner is renewed first. */
const MARGIN_MS = 60_000

type ConnectionRow = Selectable<EmailConnectionsTable>

type Deps = Pick<Context, 'config' | 'db' | 'fetcher' | 'secrets'>

/**
 * Returns the token with which a mailbox signs in, renewed if necessary (RFC 6749, 6); null for a mailbox with a
 * password. Throws MailFailure.
 */
export async function accessTokenOf(ctx: Deps, row: ConnectionRow): Promise<string | null> {
  if (!row.oauth) return null
  const end = Date.now() + MAX_WAIT_MS
  for (let known: ConnectionRow | undefined = row; known; ) {
    const { oauth_access_token: kept, oauth_expires_at: until } = known
    if (kept !== null && until && until.getTime() > Date.now() + MARGIN_MS)
      return ctx.secrets.decrypt(kept, placeOf(row, 'oauth_access_token'))
    const claimed = await claimRenewal(ctx, row)
    if (claimed) return renewed(ctx, claimed)
    if (Date.now() > end) throw new MailFailure('The token is being renewed, which takes too long.')
    await setTimeout(PAUSE_MS)
    known = await sameRow(ctx, row)
  }
  throw new MailFailure('The settings of the mailbox have changed in the meantime.')
}

/** Renews a token that a server has refused, unless that has happened since. Throws MailFailure. */
export async function renewToken(ctx: Deps, row: ConnectionRow): Promise<void> {
  const refused = row.oauth_access_token
  await ctx.db
    .updateTable('email_connections')
    .set({ oauth_access_token: null, oauth_expires_at: null })
    .where('account_id', '=', row.account_id)
    .where('agent_id', '=', row.agent_id)
    .where('updated_at', '=', row.updated_at)
    .where('oauth_access_token', '=', refused)
    .execute()
  await accessTokenOf(ctx, { ...row, oauth_access_token: null, oauth_expires_at: null })
}

const sameRow = ({ db }: Pick<Deps, 'db'>, row: ConnectionRow): Promise<ConnectionRow | undefined> =>
  db
    .selectFrom('email_connections')
    .selectAll()
    .where('account_id', '=', row.account_id)
    .where('agent_id', '=', row.agent_id)
    .where('updated_at', '=', row.updated_at)
    .executeTakeFirst()

/**
 * Claims the renewal of a token and returns the newest row; undefined while somebody else renews it, or has. Most
 * providers take a refresh token once, and some withdraw the permission when it comes twice. No transaction stays open
 * while the provider is asked: a row without a token is claimed until `oauth_expires_at`.
 */
async function claimRenewal({ db }: Deps, row: ConnectionRow): Promise<ConnectionRow | undefined> {
  const now = Date.now()
  return db
    .updateTable('email_connections')
    .set({ oauth_access_token: null, oauth_expires_at: new Date(now + LEASE_MS) })
    .where('account_id', '=', row.account_id)
    .where('agent_id', '=', row.agent_id)
    .where('updated_at', '=', row.updated_at)
    .where((eb) =>
      eb.or([
        eb('oauth_expires_at', 'is', null),
        eb('oauth_expires_at', '<=', new Date(now)),
        eb.and([
          eb('oauth_access_token', 'is not', null),
          eb('oauth_expires_at', '<=', new Date(now + MARGIN_MS)),
        ]),
        // The clock has been set back since. Those of two processes differ a little.
        eb.and([
          eb('oauth_access_token', 'is', null),
          eb('oauth_expires_at', '>', new Date(now + LEASE_MS + MARGIN_MS)),
        ]),
      ]),
    )
    .returningAll()
    .executeTakeFirst()
}

/** Renews the token of a claimed row, stores it and returns it. */
async function renewed(ctx: Deps, row: ConnectionRow): Promise<string> {
  const { accessToken, refreshToken, seconds } = await renew(ctx, row).catch(async (error: unknown) => {
    await ctx.db
      .updateTable('email_connections')
      .set({ oauth_expires_at: null })
      .where('account_id', '=', row.account_id)
      .where('agent_id', '=', row.agent_id)
      .where('oauth_expires_at', '=', row.oauth_expires_at)
      .execute()
    throw error
  })
  const sealed = (text: string, column: string) => ctx.secrets.encrypt(ctx.db, text, placeOf(row, column))
  await ctx.db
    .updateTable('email_connections')
    .set({
      oauth_access_token: await sealed(accessToken, 'oauth_access_token'),
      oauth_expires_at: new Date(Date.now() + seconds * 1_000),
      // Some providers rotate refresh tokens: the previous one soon becomes invalid.
      ...(refreshToken === null
        ? {}
        : { oauth_refresh_token: await sealed(refreshToken, 'oauth_refresh_token') }),
    })
    .where('account_id', '=', row.account_id)
    .where('agent_id', '=', row.agent_id)
    .where('updated_at', '=', row.updated_at)
    .execute()
  return accessToken
}

const placeOf = ({ agent_id }: ConnectionRow, column: string) =>
  placeOfRow('email_connections', agent_id, column)

async function renew(ctx: Deps, row: ConnectionRow): Promise<Tokens> {
  const { oauth, oauth_client_secret: secret, oauth_refresh_token: refresh } = row
  if (!oauth || refresh === null)
    throw new MailFailure('The mailbox has no refresh token. Connect it with its provider.')
  const client = oauth.operatorsAt ? operatorsClient(ctx.config, oauth.operatorsAt) : null
  if (oauth.operatorsAt && !client)
    throw new MailFailure(
      'The operator has removed the application. Connect the mailbox with its provider again.',
    )
  const own = secret === null ? null : await ctx.secrets.decrypt(secret, placeOf(row, 'oauth_client_secret'))
  const clientSecret = client?.secret ?? own
  return askForTokens(ctx, oauth.operatorsAt ? PRESETS[oauth.operatorsAt].tokenUrl : oauth.tokenUrl, {
    grant_type: 'refresh_token',
    client_id: client?.id ?? oauth.clientId,
    refresh_token: await ctx.secrets.decrypt(refresh, placeOf(row, 'oauth_refresh_token')),
    ...(clientSecret === null ? {} : { client_secret: clientSecret }),
    ...(oauth.scope ? { scope: oauth.scope } : {}),
  })
}
