import { useQuery } from '@tanstack/react-query'
import { call, type InputOf, type OutputOf, reading } from '../app/api.ts'
import { base } from '../app/base.ts'
import { useCan } from '../app/session.ts'
import { Select, TextField } from '../ui/field.tsx'
import { Code } from './code.tsx'
import classes from './deploy.module.css'

const PATH = '/agents/{agentId}/email/oauth'
type Oauth = NonNullable<OutputOf<'GET', '/agents/{agentId}/email/connection'>['oauth']>

/** How a mailbox is signed in to: with passwords, with one of the large providers, or with another one. */
export type SignIn = 'password' | 'google' | 'microsoft' | 'other'

export const PROVIDER_NAMES = { google: 'Google', microsoft: 'Microsoft', other: 'the provider' } as const

const SIGN_INS = [
  ['password', 'Passwords'],
  ['google', 'Google'],
  ['microsoft', 'Microsoft'],
  ['other', 'Another provider with OAuth 2'],
] as const

const TOKEN_HOSTS: Record<string, SignIn> = {
  'oauth2.googleapis.com': 'google',
  'login.microsoftonline.com': 'microsoft',
}

export const signInOf = (oauth: Oauth | null | undefined): SignIn =>
  oauth ? (TOKEN_HOSTS[URL.parse(oauth.tokenUrl)?.host ?? ''] ?? 'other') : 'password'

const KEPT = 'Leave it empty to keep the one that is stored.'

type MailOauthProps = {
  agentId: string
  oauth: Oauth | null
  signIn: SignIn
  onChoose: (signIn: SignIn) => void
}

/** Lets the user choose how to sign in, and asks for what the provider needs. */
export function MailOauth({ agentId, oauth: stored, signIn, onChoose }: MailOauthProps) {
  const can = useCan()
  const providers = useQuery({
    ...reading(PATH, { params: { agentId } }),
    enabled: signIn !== 'password' && can('messaging:read'),
  })
  const oauth = stored && signInOf(stored) === signIn ? stored : null
  const hasClient = providers.data?.providers.some(({ id, hasClient }) => id === signIn && hasClient) ?? false
  const usesOperators = signIn !== 'other' && (oauth ? oauth.isOperators : hasClient)
  return (
    <fieldset className={classes.account}>
      <legend className="visually-hidden">Sign-in</legend>
      <Select
        label="Sign in with"
        name="signIn"
        options={SIGN_INS}
        value={signIn}
        onChoose={onChoose}
        hint={
          signIn === 'password'
            ? 'Google and Microsoft want their own sign-in instead.'
            : 'You give the permission on a page of the provider, and come back here.'
        }
      />
      {signIn === 'other' && <OtherProvider oauth={oauth} />}
      {signIn !== 'password' && providers.isSuccess && !usesOperators && (
        <>
          <TextField
            label="Client id"
            name="oauth.clientId"
            defaultValue={oauth?.clientId}
            autoComplete="off"
            hint="Of an application that you have registered at the provider, with the redirect address below."
            required
          />
          <TextField
            label="Client secret"
            name="oauth.clientSecret"
            type="password"
            autoComplete="new-password"
            hint={oauth?.hasClientSecret ? KEPT : 'Empty if the application has none.'}
          />
          <Code label="Redirect address" text={providers.data.redirectUrl} />
        </>
      )}
    </fieldset>
  )
}

function OtherProvider({ oauth }: { oauth: Oauth | null }) {
  return (
    <>
      <TextField
        label="Page for people"
        name="oauth.authorizationUrl"
        type="url"
        placeholder="https://provider.example/authorize"
        defaultValue={oauth?.authorizationUrl ?? ''}
        hint="The authorization endpoint. It is not needed with a refresh token."
      />
      <TextField
        label="Address of the tokens"
        name="oauth.tokenUrl"
        type="url"
        placeholder="https://provider.example/token"
        defaultValue={oauth?.tokenUrl}
        required
      />
      <TextField
        label="Scope"
        name="oauth.scope"
        defaultValue={oauth?.scope ?? ''}
        hint="Only if the provider asks for it."
      />
      <TextField
        label="Refresh token"
        name="oauth.refreshToken"
        type="password"
        autoComplete="new-password"
        hint={oauth?.hasRefreshToken ? KEPT : 'Only if you already have one.'}
      />
    </>
  )
}

/** Reads the OAuth fields of the form, without empty ones; what the form does not show stays as it is stored. */
export function oauthOf(form: FormData, stored: Oauth | null | undefined) {
  const text = (name: string) => String(form.get(`oauth.${name}`) ?? '').trim()
  const isStored = signInOf(stored) === form.get('signIn')
  const known = isStored && stored ? stored : { tokenUrl: '', clientId: '', scope: null }
  const [clientSecret, refreshToken] = [text('clientSecret'), text('refreshToken')]
  const scope = form.has('oauth.scope') ? text('scope') : known.scope
  return {
    tokenUrl: text('tokenUrl') || known.tokenUrl,
    clientId: text('clientId') || known.clientId,
    ...(clientSecret && { clientSecret }),
    ...(refreshToken && { refreshToken }),
    ...(scope && { scope }),
  }
}

/** What the form says about the provider. */
export function wantedOauth(form: FormData) {
  const names = ['authorizationUrl', 'tokenUrl', 'clientId', 'clientSecret', 'scope'] as const
  const given = names.map((name) => [name, String(form.get(`oauth.${name}`) ?? '').trim()] as const)
  return Object.fromEntries(given.filter(([, value]) => value !== ''))
}

type Wanted = InputOf<'POST', typeof PATH>['body']

const KEPT_AT = 'parley mailbox sign-in'

/** Returns the page of the provider. From there, the browser comes back to MailboxSignInPage. */
export async function beginAtProvider(agentId: string, body: Wanted): Promise<string> {
  const { url, attempt } = await call('POST', PATH, { params: { agentId }, body })
  sessionStorage.setItem(KEPT_AT, JSON.stringify({ agentId, attempt }))
  return url
}

/** Returns what beginAtProvider has kept in this tab, once. */
export function takeAttempt(): { agentId: string; attempt: string } | null {
  const kept = sessionStorage.getItem(KEPT_AT)
  sessionStorage.removeItem(KEPT_AT)
  return kept === null ? null : JSON.parse(kept)
}

/** Takes the code out of the address bar and the history. */
export const hideCode = (): void => history.replaceState(history.state, '', `${base}/mailbox-sign-in`)
