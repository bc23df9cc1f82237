import { useState } from 'react'
import { Check, TextField } from '../ui/field.tsx'

type Oauth = {
  tokenUrl: string
  clientId: string
  scope: string | null
  hasClientSecret: boolean
  hasRefreshToken: boolean
}

const KEPT = 'Leave it empty to keep the one that is stored.'

/** The fields for a mailbox whose provider wants OAuth 2 in place of passwords. */
export function MailOauth({ oauth }: { oauth: Oauth | null }) {
  const [isOn, setIsOn] = useState(oauth !== null)
  return (
    <fieldset>
      <legend>Sign-in</legend>
      <Check
        name="oauth.on"
        label="Sign in with OAuth 2 instead of passwords"
        hint="Google and Microsoft want it. Register an application there, and give it access to the mailbox."
        checked={isOn}
        onChange={({ target }) => setIsOn(target.checked)}
      />
      {isOn && (
        <>
          <TextField
            label="Address of the tokens"
            name="oauth.tokenUrl"
            type="url"
            placeholder="https://oauth2.googleapis.com/token"
            defaultValue={oauth?.tokenUrl}
            hint="Microsoft: https://login.microsoftonline.com/common/oauth2/v2.0/token"
            required
          />
          <TextField
            label="Client id"
            name="oauth.clientId"
            defaultValue={oauth?.clientId}
            autoComplete="off"
            required
          />
          <TextField
            label="Client secret"
            name="oauth.clientSecret"
            type="password"
            autoComplete="new-password"
            hint={oauth?.hasClientSecret ? KEPT : 'Empty if the application has none.'}
          />
          <TextField
            label="Refresh token"
            name="oauth.refreshToken"
            type="password"
            autoComplete="new-password"
            hint={oauth?.hasRefreshToken ? KEPT : undefined}
            required={!oauth?.hasRefreshToken}
          />
          <TextField
            label="Scope"
            name="oauth.scope"
            defaultValue={oauth?.scope ?? ''}
            hint="Only if the provider asks for it."
          />
        </>
      )}
    </fieldset>
  )
}

/** Reads the OAuth fields of the form, without empty ones. */
export function oauthOf(form: FormData) {
  if (form.get('oauth.on') === null) return {}
  const text = (name: string) => String(form.get(`oauth.${name}`) ?? '').trim()
  const [clientSecret, refreshToken, scope] = [text('clientSecret'), text('refreshToken'), text('scope')]
  return {
    oauth: {
      tokenUrl: text('tokenUrl'),
      clientId: text('clientId'),
      ...(clientSecret && { clientSecret }),
      ...(refreshToken && { refreshToken }),
      ...(scope && { scope }),
    },
  }
}
