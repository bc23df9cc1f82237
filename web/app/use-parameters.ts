import { useNavigate, useRouter, useSearch } from '@tanstack/react-router'

type Parameters<T> = {
  shown: T
  /** Returns the parameters that were asked for last. The page may still show those before. */
  latest: () => T
  /** Changes some of the parameters. It ends when the page shows them. */
  change: (part: Partial<T>, replace?: boolean) => Promise<void>
}

/** Returns the query parameters of the page, and how to change them. Changes in a row add up. */
export function useParameters<T extends object>(): Parameters<T> {
  const router = useRouter()
  const navigate = useNavigate()
  const shown: object = useSearch({ strict: false })
  const latest = () => router.latestLocation.search as T
  return {
    shown: shown as T,
    latest,
    change: (part, replace = false) =>
      navigate({ to: '.', search: { ...latest(), ...part } as never, replace }),
  }
}
