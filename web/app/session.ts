import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { Scope } from '../../server/platform/http/contract.ts'
import { reading } from './api.ts'
import { home } from './base.ts'

/** Returns the query for the signed-in member and their scopes. */
export const useMe = () => useQuery({ ...reading('/me'), staleTime: 60_000 })

export function useCan(): (scope: Scope) => boolean {
  const { data } = useMe()
  return (scope) => data?.member?.scopes.includes(scope) ?? false
}

/** Returns the member who is signed in in this browser. */
export const useMember = () => useMe().data?.member

const LAST_AGENT = 'parley:agent'

export const lastAgent = (): string | null => localStorage.getItem(LAST_AGENT)
export const rememberAgent = (agentId: string): void => localStorage.setItem(LAST_AGENT, agentId)

const PLACE = 'parley:place'

/** Keeps where the member was going while the browser is at the page of a sign-in provider. */
export const rememberPlace = (place: string): void => sessionStorage.setItem(PLACE, place)

/** Returns where the member was going before they signed in with a provider, once. */
export function takePlace(): string | null {
  const place = sessionStorage.getItem(PLACE)
  sessionStorage.removeItem(PLACE)
  return place === `${home}/` ? null : place
}

export const useAgentId = (): string => {
  const { agentId } = useParams({ strict: false })
  return agentId ?? ''
}

export const useAgent = (agentId: string) =>
  useQuery({ ...reading('/agents/{agentId}', { params: { agentId } }), enabled: agentId !== '' })

export const useAgents = () => useQuery(reading('/agents', { query: { limit: 100 } }))
