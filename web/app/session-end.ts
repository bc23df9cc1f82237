import { useSyncExternalStore } from 'react'
import { ParleyError } from '../../client/parley-error.ts'

/** What waits until the member has signed in again; null while the session holds. */
let waiting: PromiseWithResolvers<boolean> | null = null
/** A dialog that was closed opens again for something that the member does, not for what the page reads by itself. */
let isPutOff = false
const listeners = new Set<() => void>()

function tellListeners(): void {
  for (const listen of listeners) listen()
}

/** Whether the service refused a request because nobody is signed in. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof ParleyError && error.status === 401 && error.code !== 'AUTH_SIGN_IN_FAILED'

/** Opens the dialog for signing in again. The promise says whether the member has done so. */
function askToSignIn(): Promise<boolean> {
  isPutOff = false
  waiting ??= Promise.withResolvers<boolean>()
  tellListeners()
  return waiting.promise
}

/** Opens the same dialog after the page has read something by itself, unless the member has closed it. */
export function noteSessionEnd(): void {
  if (!isPutOff) void askToSignIn()
}

/** Closes the dialog. */
export function endWait(isSignedIn: boolean): void {
  waiting?.resolve(isSignedIn)
  waiting = null
  isPutOff = !isSignedIn
  tellListeners()
}

/** Whether the dialog is open. */
export const useSessionEnd = (): boolean =>
  useSyncExternalStore(
    (listen) => {
      listeners.add(listen)
      return () => listeners.delete(listen)
    },
    () => waiting !== null,
  )

/** Sends a request of the member, and sends it again after they have signed in when the session has ended. */
export async function inSession<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send()
  } catch (error) {
    if (!isSignedOut(error) || !(await askToSignIn())) throw error
    return await send()
  }
}
