import {
  type UseMutationOptions,
  type UseMutationResult,
  useMutation as useQueryMutation,
} from '@tanstack/react-query'
import { useRef } from 'react'

let begun = 0

/** How many changes pages have begun so far. */
export const changesBegun = (): number => begun

/**
 * All changes that pages make go through this hook. Unlike that of TanStack Query, it ignores a change that equals the
 * latest one while that is still running, such as the second click of a double-click or a repeated Enter, because the
 * page shows only a moment later that a change is running.
 */
export function useMutation<D = unknown, E = Error, V = void, C = unknown>(
  options: UseMutationOptions<D, E, V, C>,
): UseMutationResult<D, E, V, C> {
  const latest = useRef<{ input: string; running: Promise<D> } | null>(null)
  const mutation = useQueryMutation(options)

  const mutateAsync: typeof mutation.mutateAsync = (...given) => {
    const input = JSON.stringify(given[0], withFiles) ?? ''
    if (latest.current?.input === input) return latest.current.running
    begun++
    const running = mutation.mutateAsync(...given)
    const mine = { input, running }
    latest.current = mine
    const end = (): void => {
      if (latest.current === mine) latest.current = null
    }
    running.then(end, end)
    return running
  }
  const mutate: typeof mutation.mutate = (...given) => {
    // Errors are shown by the cache of mutations or by the page.
    mutateAsync(...given).catch(() => {})
  }
  return { ...mutation, mutate, mutateAsync }
}

/** Forms and files have no text of their own as JSON. */
const withFiles = (_name: string, value: unknown): unknown =>
  value instanceof FormData ? [...value] : value instanceof File ? [value.name, value.size] : value
