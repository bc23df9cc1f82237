import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { recordAudit } from '../../../accounts/audit/audit.ts'
import type { Context } from '../../../context.ts'
import type { AgentRef } from '../../../platform/db/refs.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { MailOauth, MailProvider } from '../../../platform/db/tables/channels.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import type { Caller } from '../../../platform/http/route.ts'
import type { SecretLocation } from '../../../platform/secrets/seal.ts'
import { askForTokens } from '../connection/ask-provider.ts'
import { clientSecretOf, type NewConnection, putConnection, rowOf } from '../connection/connection.ts'
import { operatorsClient, PRESETS } from '../connection/providers.ts'

type Deps = Pick<Context, 'config' | 'db' | 'fetcher' | 'jobs' | 'secrets'>

const MAX_MS = 15 * 60_000
/** An attempt is not stored: the browser that began it keeps it. */
const PLACE: SecretLocation = { table: 'email_connections', row: '', purpose: 'sign-in' }

/** `oauth` is that of the provider, or of the owner's own one. */
type Wanted = Omit<NewConnection, 'oauth' | 'smtp'> & {
  smtp?: NewConnection['smtp']
  oauth?: Partial<MailOauth> & { clientSecret?: string }
}

/** Everything that is needed when the browser comes back, bound to who has begun. */
type Attempt = {
  accountId: string
  agentId: string
  actor: string
  sessionId: string | null
  until: number
  state: string
  verifier: string
  redirectUrl: string
  wanted: NewConnection & { oauth: NonNullable<NewConnection['oauth']> }
}

/**
 * Begins the authorisation-code flow with PKCE (RFC 6749, 4.1; RFC 7636). Returns the address of the provider's page,
 * and the attempt, encrypted, which the browser gives back with what the provider has told it.
 */
export async function beginSignIn(
  ctx: Deps,
  { ref, caller, redirectUrl }: { ref: AgentRef; caller: Caller; redirectUrl: string },
  { provider, connection }: { provider: MailProvider | 'other'; connection: Wanted },
): Promise<{ url: string; attempt: string }> {
  const wanted = wantedFrom(ctx, provider, connection)
  const [state, verifier] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')]
  const attempt: Attempt = {
    ...ref,
    ...whoseIs(caller),
    until: Date.now() + MAX_MS,
    state,
    verifier,
    redirectUrl,
    wanted,
  }
  const url = new URL(wanted.oauth.authorizationUrl ?? '')
  const parameters = {
    response_type: 'code',
    client_id: wanted.oauth.clientId,
    redirect_uri: redirectUrl,
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    login_hint: wanted.address,
    ...(wanted.oauth.scope ? { scope: wanted.oauth.scope } : {}),
    ...(provider === 'other' ? {} : PRESETS[provider].parameters),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return { url: url.href, attempt: ctx.secrets.key.seal(JSON.stringify(attempt), PLACE) }
}

/** Fetches the tokens and connects the mailbox. Throws MailFailure, and ApiError for an attempt of somebody else. */
export async function finishSignIn(
  ctx: Deps,
  { ref, caller }: { ref: AgentRef; caller: Caller },
  given: { attempt: string; state: string; code: string },
): Promise<void> {
  const { wanted, verifier, redirectUrl } = await ownAttempt(ctx, { ref, caller }, given)
  const { oauth } = wanted
  const operators = oauth.operatorsAt ? operatorsClient(ctx.config, oauth.operatorsAt) : null
  const secret =
    operators?.secret ?? oauth.clientSecret ?? (await clientSecretOf(ctx, await rowOf(ctx.db, ref), oauth))
  const { refreshToken } = await askForTokens(ctx, oauth.tokenUrl, {
    grant_type: 'authorization_code',
    code: given.code,
    redirect_uri: redirectUrl,
    client_id: oauth.clientId,
    code_verifier: verifier,
    ...(secret === null ? {} : { client_secret: secret }),
  })
  if (refreshToken === null)
    throw new ApiError('VALIDATION_INVALID_BODY', {
      message:
        'The provider gave no lasting permission (refresh token). Remove the access of the application at the provider, then connect again; other providers may want the scope offline_access.',
    })
  // What the provider has refused is no change.
  await transact(ctx.db, async (trx) => {
    await recordAudit(trx, {
      accountId: ref.accountId,
      actor: caller.actor,
      action: 'connection.put',
      target: ref.agentId,
    })
    await putConnection({ ...ctx, db: trx }, ref, { ...wanted, oauth: { ...oauth, refreshToken } })
  })
}

const whoseIs = ({ actor, member }: Caller) => ({ actor, sessionId: member?.sessionId ?? null })

async function ownAttempt(
  { secrets }: Deps,
  { ref, caller }: { ref: AgentRef; caller: Caller },
  given: { attempt: string; state: string },
): Promise<Attempt> {
  const attempt = await secrets
    .decrypt(given.attempt, PLACE)
    .then((text): Attempt => JSON.parse(text))
    .catch(() => null)
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
  const { actor, sessionId } = whoseIs(caller)
  const isOwn =
    attempt !== null &&
    attempt.until > Date.now() &&
    attempt.accountId === ref.accountId &&
    attempt.agentId === ref.agentId &&
    attempt.actor === actor &&
    attempt.sessionId === sessionId &&
    timingSafeEqual(hash(attempt.state), hash(given.state))
  if (isOwn) return attempt
  throw new ApiError('VALIDATION_INVALID_BODY', {
    message: 'This sign-in has expired, or was begun elsewhere. Begin again on the page of the mailbox.',
  })
}

/** Returns the connection as it will be, with the servers of the provider and the client of the owner or the operator. */
function wantedFrom(ctx: Deps, provider: MailProvider | 'other', connection: Wanted): Attempt['wanted'] {
  const { oauth = {}, smtp, imap, ...rest } = connection
  if (provider === 'other') {
    const { authorizationUrl, tokenUrl, clientId, scope, ...more } = oauth
    if (!smtp || !authorizationUrl || !tokenUrl || !clientId)
      throw invalid('connection', 'Needs smtp, and oauth with authorizationUrl, tokenUrl and clientId.')
    const wanted = { ...more, authorizationUrl, tokenUrl, clientId, ...(scope ? { scope } : {}) }
    return { ...rest, smtp, ...(imap ? { imap } : {}), oauth: wanted }
  }
  const preset = PRESETS[provider]
  const operators = oauth.clientId ? null : operatorsClient(ctx.config, provider)
  const clientId = oauth.clientId ?? operators?.id
  if (!clientId)
    throw invalid('connection.oauth.clientId', 'The operator has registered none, so it is needed.')
  const username = rest.address
  return {
    ...rest,
    smtp: { ...preset.smtp, username },
    imap: { ...preset.imap, username, ...(imap?.mailbox ? { mailbox: imap.mailbox } : {}) },
    oauth: {
      authorizationUrl: preset.authorizationUrl,
      tokenUrl: preset.tokenUrl,
      ...(preset.revocationUrl ? { revocationUrl: preset.revocationUrl } : {}),
      scope: preset.scope,
      clientId,
      ...(operators ? { operatorsAt: provider } : {}),
      ...(oauth.clientSecret && !operators ? { clientSecret: oauth.clientSecret } : {}),
    },
  }
}

const invalid = (field: string, message: string): ApiError =>
  new ApiError('VALIDATION_INVALID_BODY', { details: { [field]: message } })
