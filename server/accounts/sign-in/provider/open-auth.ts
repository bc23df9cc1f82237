import type { OAuth2Tokens } from 'better-auth'
import type { GenericOAuthUserInfo } from 'better-auth/plugins/generic-oauth'
import type { Logger } from 'pino'
import type { Config } from '../../../config.ts'
import type { Db } from '../../../platform/db/database.ts'
import { newId } from '../../../platform/db/ids.ts'
import { basePathOf } from '../../../platform/http/server/own-origin.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { openLoginSecret } from '../passwords/login-secret.ts'
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../passwords/password-limits.ts'
import { AUTH_PATH, PROVIDER, SIGN_IN_PAGE } from './contract.ts'
import { pinIdentity } from './pin-identity.ts'

/** The lifetime of a session in seconds, counted from the sign-in; activity does not extend it. */
const SESSION_SECONDS = 14 * 24 * 3600
/** The header that passes the client's address to the sign-in library. */
export const ADDRESS_HEADER = 'x-parley-address'

export type AuthNeeds = { db: Db; config: Config; log: Logger; secrets: Secrets }

const times = { createdAt: 'created_at', updatedAt: 'updated_at' }

const SESSION = {
  modelName: 'login_sessions',
  fields: {
    ...times,
    userId: 'login_id',
    expiresAt: 'expires_at',
    ipAddress: 'ip_address',
    userAgent: 'user_agent',
  },
  expiresIn: SESSION_SECONDS,
  disableSessionRefresh: true,
}

const ACCOUNT = {
  modelName: 'login_credentials',
  fields: {
    ...times,
    userId: 'login_id',
    accountId: 'subject',
    providerId: 'provider_id',
    accessToken: 'access_token',
    refreshToken: 'refresh_token',
    idToken: 'id_token',
    accessTokenExpiresAt: 'access_token_expires_at',
    refreshTokenExpiresAt: 'refresh_token_expires_at',
  },
  encryptOAuthTokens: true,
  accountLinking: { enabled: true },
}

const SECOND_FACTOR = {
  user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
  twoFactor: {
    modelName: 'login_second_factors',
    fields: {
      userId: 'login_id',
      backupCodes: 'backup_codes',
      failedVerificationCount: 'failed_verification_count',
      lockedUntil: 'locked_until',
    },
  },
}

/**
 * Configures the sign-in library for our tables. It makes up a tenth of all modules, so it is imported only when
 * somebody signs in.
 */
async function createAuth({ db, config, log }: AuthNeeds, secret: string, { isSecure, withProvider }: Kind) {
  const { betterAuth } = await import('better-auth')
  const { twoFactor } = await import('better-auth/plugins/two-factor')
  const { genericOAuth } = await import('better-auth/plugins/generic-oauth')
  const base = basePathOf(config)
  return betterAuth({
    appName: 'Parley',
    secret,
    // With AUTH_PATH, because the library appends its base path only to a URL that has no path.
    baseURL: `${config.publicUrl ?? 'http://localhost'}${AUTH_PATH}`,
    database: { db, type: 'postgres', transaction: false },
    user: {
      modelName: 'logins',
      fields: { ...times, emailVerified: 'email_verified' },
      // Called before a sign-in through the provider succeeds.
      async validateUserInfo({ user: { id }, source: { oauth } }, { context }) {
        const issuer = context.socialProviders.find((provider) => provider.id === oauth?.providerId)?.issuer
        const subject = oauth?.profile?.sub
        if (!id || !issuer || !subject) return { error: 'identity_unknown' }
        const isSame = await pinIdentity(db, id, { issuer, subject: String(subject) })
        if (!isSame) return { error: 'identity_taken' }
      },
    },
    session: SESSION,
    account: ACCOUNT,
    verification: {
      modelName: 'login_challenges',
      fields: { ...times, expiresAt: 'expires_at' },
      storeIdentifier: 'hashed',
    },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: MIN_PASSWORD_LENGTH,
      maxPasswordLength: MAX_PASSWORD_LENGTH,
    },
    plugins: [
      twoFactor({
        issuer: 'Parley',
        schema: SECOND_FACTOR,
      }),
      ...(withProvider && config.oidc ? [genericOAuth({ config: [providerOf(config.oidc)] })] : []),
    ],
    // For failures of a request that the library does not recognise, such as a callback that is loaded again.
    onAPIError: { errorURL: `${base}${SIGN_IN_PAGE}` },
    // Attempts are counted by the service, across all of its processes.
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: {
      level: 'warn',
      // Failed attempts are recorded in the audit log.
      log: (level, message) => void (level === 'error' && log.warn({ sign: message }, 'sign-in')),
    },
    advanced: {
      cookiePrefix: 'parley',
      useSecureCookies: isSecure,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', path: base || '/' },
      database: { generateId: newId, validateSchema: false },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
    },
  })
}

const providerOf = ({ issuer, clientId, clientSecret }: NonNullable<Config['oidc']>) => ({
  providerId: PROVIDER,
  discoveryUrl: `${issuer}/.well-known/openid-configuration`,
  clientId,
  clientSecret,
  scopes: ['openid', 'email', 'profile'],
  pkce: true,
  requireIdTokenVerification: true,
  accountSubject: ({ tokens, profile }: { tokens: OAuth2Tokens; profile: GenericOAuthUserInfo }) => {
    // Only the id token proves that the provider identified this person for this client and this sign-in.
    if (!tokens.idToken) throw new Error('The provider has sent no id_token.')
    return profile.sub ?? ''
  },
  // Only people who have been invited have a login.
  disableSignUp: true,
})

export type Auth = Awaited<ReturnType<typeof createAuth>>

/**
 * An instance of the library. Its cookies differ between HTTPS and plain HTTP. An instance with the provider fetches
 * the provider's metadata when it is opened, which must not delay sign-ins with a password.
 */
type Kind = { isSecure: boolean; withProvider: boolean }

type AuthOpener = {
  open(kind: Kind): Promise<Auth>
  /** Returns the secret that signs cookies. */
  secret(): Promise<string>
}

export function authOpener(needs: AuthNeeds): AuthOpener {
  let opening: Promise<string> | null = null
  const opened = new Map<string, Promise<Auth>>()
  // A failure is forgotten, so that the next request tries again.
  const secret = (): Promise<string> => {
    if (opening) return opening
    opening = openLoginSecret(needs.db, needs.secrets)
    opening.catch(() => {
      opening = null
    })
    return opening
  }
  return {
    secret,
    open(kind) {
      const name = `${kind.isSecure} ${kind.withProvider}`
      const known = opened.get(name)
      if (known) return known
      const auth = secret().then((text) => createAuth(needs, text, kind))
      opened.set(name, auth)
      auth.catch(() => opened.delete(name))
      return auth
    },
  }
}
