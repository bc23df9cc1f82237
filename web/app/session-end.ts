import { ParleyError } from '../../client/parley-error.ts'
import { createStore } from '../ui/store.ts'

/** Resolves when the member has signed in again; null while the session is valid. */
const waiting = createStore<PromiseWithResolvers<boolean> | null>(null)
/** Whether the member has closed the dialog. Then it opens again only for something that the member does. */
let isPutOff = false

/** Whether the service refused a request because nobody is signed in. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof ParleyError && error.status === 401 && error.code !== 'AUTH_SIGN_IN_FAILED'

/** Opens the dialog for signing in again. The promise says whether the member has done so. */
function askToSignIn(): Promise<boolean> {
  isPutOff = false
  const question = waiting.get() ?? Promise.withResolvers<boolean>()
  waiting.set(question)
  return question.promise
}

/** Opens the same dialog after the page has read something by itself, unless the member has closed it. */
export function noteSessionEnd(): void {
  if (!isPutOff) void askToSignIn()
}

/** Closes the dialog. */
export function endWait(isSignedIn: boolean): void {
  const question = waiting.get()
  isPutOff = !isSignedIn
  waiting.set(null)
  question?.resolve(isSignedIn)
}

/** Whether the dialog is open. */
export const useSessionEnd = (): boolean => waiting.use() !== null

/** Sends a request of the member, and sends it again after they have signed in when the session has ended. */
export async function inSession<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send()
  } catch (error) {
    if (!isSignedOut(error) || !(await askToSignIn())) throw error
    return await send()
  }
}
