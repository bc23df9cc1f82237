import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ParleyError } from '../../client/parley-error.ts'
import { sentenceOf } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import { isSignedOut, noteSessionEnd } from './session-end.ts'

const FRESH_MS = 10_000

class Queries extends QueryClient {
  /** Also repeats a first request that is still running, because its response may be older than the change. */
  override async invalidateQueries(...[filters, options]: Parameters<QueryClient['invalidateQueries']>) {
    await this.cancelQueries(filters)
    return super.invalidateQueries(filters, options)
  }
}

/**
 * Cached data is shown at once and refetched when stale. A failed mutation shows a toast unless its `meta.quiet` is
 * true, which means that the error is shown elsewhere.
 */
export const queries = new Queries({
  queryCache: new QueryCache({
    // Before anybody is signed in, the shell leads to the sign-in page.
    onError: (error) => {
      if (isSignedOut(error) && queries.getQueryData(['/me', {}])) noteSessionEnd()
    },
  }),
  mutationCache: new MutationCache({
    onError: (error, _variables, _context, mutation) => {
      if (mutation.meta?.quiet !== true) tell('problem', sentenceOf(error))
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (failures, error) =>
        navigator.onLine && failures < 2 && !(error instanceof ParleyError && !error.canPass),
      networkMode: 'always',
      refetchOnReconnect: true,
    },
    mutations: { networkMode: 'always' },
  },
})

/** Fetches again what these paths have returned. Resolves when what is shown of it is up to date. */
export async function fetchAgain(...paths: readonly string[]): Promise<void> {
  await Promise.all(paths.map((path) => queries.invalidateQueries({ queryKey: [path] })))
}
