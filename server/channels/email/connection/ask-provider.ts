import type { Context } from '../../../context.ts'
import { FetchFailure } from '../../../platform/fetch/failures/fetch-failure.ts'
import { oneLine } from '../../../platform/mail/mail-address.ts'
import { MailFailure } from '../../../platform/mail/mail-failure.ts'

const TIMEOUT_MS = 15_000
const MAX_BYTES = 100_000
/** For providers that do not say it (RFC 6749, 5.1). */
const DEFAULT_SECONDS = 300

type Deps = Pick<Context, 'fetcher'>

export type Tokens = { accessToken: string; refreshToken: string | null; seconds: number }

/** Asks a provider for tokens (RFC 6749, 4.1.3 and 6). Throws MailFailure with a sentence. */
export async function askForTokens(
  ctx: Deps,
  tokenUrl: string,
  form: Record<string, string>,
): Promise<Tokens> {
  const { status, said } = await post(ctx, tokenUrl, form)
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = said
  if (status !== 200 || typeof accessToken !== 'string') throw refusal(new URL(tokenUrl).host, status, said)
  return {
    accessToken,
    refreshToken: typeof refreshToken === 'string' ? refreshToken : null,
    seconds: Number(seconds) > 0 ? Number(seconds) : DEFAULT_SECONDS,
  }
}

/** Withdraws a refresh token (RFC 7009). Throws MailFailure. */
export async function withdrawToken(ctx: Deps, revocationUrl: string, token: string): Promise<void> {
  const { status, said } = await post(ctx, revocationUrl, { token, token_type_hint: 'refresh_token' })
  if (status !== 200) throw refusal(new URL(revocationUrl).host, status, said)
}

async function post(
  { fetcher }: Deps,
  url: string,
  form: Record<string, string>,
): Promise<{ status: number; said: Record<string, unknown> }> {
  const { status, body } = await fetcher
    .fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams(form).toString(),
      maxBytes: MAX_BYTES,
      timeoutMs: TIMEOUT_MS,
      maxRedirects: 0,
    })
    .catch((error: unknown) => {
      if (!(error instanceof FetchFailure)) throw error
      throw new MailFailure(`The provider could not be asked. ${error.message}`, { cause: error })
    })
  return { status, said: jsonIn(body) }
}

/** Returns a sentence about an error of RFC 6749, 5.2. */
function refusal(host: string, status: number, said: Record<string, unknown>): MailFailure {
  const code = typeof said.error === 'string' ? said.error : String(status)
  const about = typeof said.error_description === 'string' ? `: ${oneLine(said.error_description, 300)}` : ''
  const advice =
    code === 'invalid_grant'
      ? 'The permission has ended or was withdrawn. Connect the mailbox with the provider again.'
      : code === 'invalid_client' || code === 'unauthorized_client'
        ? 'Check the client id and the client secret.'
        : 'Check the address of the tokens and the client.'
  return new MailFailure(`${host} gave no token (${oneLine(code, 100)}${about}). ${advice}`)
}

function jsonIn(body: Uint8Array): Record<string, unknown> {
  try {
    const said: unknown = JSON.parse(Buffer.from(body).toString('utf8'))
    return typeof said === 'object' && said !== null ? { ...said } : {}
  } catch {
    return {}
  }
}
