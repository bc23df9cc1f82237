import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { reading } from '../app/api.ts'
import { rememberPlace } from '../app/session.ts'
import { Gate } from './gate.tsx'
import { SignInForm } from './sign-in-form.tsx'

/** Accepts only paths of this workspace, so that a link cannot redirect users to another site after sign-in. */
function insideOf(to: unknown): string {
  const url = URL.parse(String(to ?? '/'), location.origin)
  // The whole URL: a path alone may begin with two slashes and lead to another host.
  return url?.origin === location.origin ? url.href : '/'
}

export function SignInPage() {
  const { to } = useSearch({ strict: false }) as { to?: unknown }
  const how = useQuery(reading('/sign-in'))
  return (
    <Gate
      title="Sign in"
      about={
        how.data?.needsSetUp &&
        'Nobody has an account here yet. The start of the service prints a link with which the first owner sets it up.'
      }
    >
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
