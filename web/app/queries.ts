import { MutationCache, QueryClient } from '@tanstack/react-query'
import { ParleyError } from '../../client/parley-error.ts'
import { sentenceOf } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'

const FRESH_MS = 10_000

/** What was read is shown at once and asked for again; what failed is told where nothing else tells it. */
export const queries = new QueryClient({
  mutationCache: new MutationCache({
    onError: (error, _variables, _context, mutation) => {
      if (mutation.meta?.quiet !== true) tell('problem', sentenceOf(error))
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (failures, error) => failures < 2 && !(error instanceof ParleyError && !error.canPass),
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
})
