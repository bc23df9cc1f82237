import { useEffect } from 'react'
import { reading } from '../app/api.ts'
import { base } from '../app/base.ts'
import { queries } from '../app/queries.ts'
import { useMe } from '../app/session.ts'
import { endWait } from '../app/session-end.ts'
import { Dialog } from '../ui/dialog.tsx'
import classes from './gate.module.css'
import { SignInForm } from './sign-in-form.tsx'

/**
 * Signs the member in again over the page when the session has ended. The page keeps what was written, and sends what
 * was being saved.
 */
export function SignInAgain() {
  const { data } = useMe()
  const member = data?.member
  /** Continues after the member has signed in again, here or in another tab. */
  const resume = async (): Promise<void> => {
    const me = await reading('/me')
      .queryFn({ signal: AbortSignal.timeout(20_000) })
      .catch(() => null)
    if (!me) return
    // The page shows what the member who opened it may see.
    if (me.member?.id !== member?.id) return location.reload()
    endWait(true)
    void queries.invalidateQueries()
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the listener of the first render does the same as later ones
  useEffect(() => {
    const look = (): void => void resume()
    addEventListener('focus', look)
    return () => removeEventListener('focus', look)
  }, [])
  const elsewhere = `${base}/sign-in?${new URLSearchParams({ to: location.pathname + location.search })}`
  return (
    <Dialog title="Sign in again" isOpen onClose={() => endWait(false)}>
      <div className={classes.again}>
        <p>Your session has ended. Sign in to continue; nothing on the page is lost.</p>
        <SignInForm
          email={member?.email}
          onDone={() => void resume()}
          // Another tab, because leaving this page would lose what was written on it.
          onProvider={(url) => open(url, '_blank')}
        >
          <a href={elsewhere}>Sign in as somebody else</a>
        </SignInForm>
      </div>
    </Dialog>
  )
}
