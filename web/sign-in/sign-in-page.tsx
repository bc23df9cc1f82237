import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { reading } from '../app/api.ts'
import { home } from '../app/base.ts'
import { rememberPlace } from '../app/session.ts'
import { FormProblem } from '../ui/field.tsx'
import { Gate } from './gate.tsx'
import { SignInForm } from './sign-in-form.tsx'

/** Accepts only paths of this workspace, so that a link cannot redirect users to another site after sign-in. */
function insideOf(to: unknown): string {
  const url = URL.parse(String(to ?? ''), location.origin)
  // The whole URL: a path alone may begin with two slashes and lead to another host.
  return url && `${url.origin}${url.pathname}`.startsWith(`${home}/`) ? url.href : `${home}/`
}

const CANNOT = 'The identity provider did not let you in. Try again, or sign in with your password.'
const TOO_LATE = 'This sign-in has already been used, or took too long. Start again.'

/** Why a sign-in with the identity provider did not succeed, by the code in the address; see server/accounts/sign-in/provider. */
const PROBLEMS = new Map([
  ['state_mismatch', TOO_LATE],
  ['state_not_found', TOO_LATE],
  ['access_denied', 'The identity provider did not let you in, or you cancelled the sign-in there.'],
  [
    'signup_disabled',
    'No member has the address that the identity provider knows you by. Ask for an invitation.',
  ],
  ['account_not_linked', 'The identity provider has not verified your address. Sign in with your password.'],
  [
    'identity_taken',
    'Another person of the identity provider has signed in here with your address before. Ask whoever runs this service to let you in.',
  ],
])

export function SignInPage() {
  const { to, error } = useSearch({ strict: false })
  const how = useQuery(reading('/sign-in'))
  return (
    <Gate
      title="Sign in"
      about={
        how.data?.needsSetUp &&
        'Nobody has an account here yet. The start of the service prints a link with which the first owner sets it up.'
      }
    >
      {error !== undefined && <FormProblem>{PROBLEMS.get(String(error)) ?? CANNOT}</FormProblem>}
      <SignInForm
        // A full page load discards all state of an earlier session.
        onDone={() => location.assign(insideOf(to))}
        onProvider={(url) => {
          rememberPlace(insideOf(to))
          location.assign(url)
        }}
      >
        <Link to="/forgot">Forgot your password?</Link>
      </SignInForm>
    </Gate>
  )
}
