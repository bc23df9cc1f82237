import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { reading } from '../app/api.ts'

/** What is said when settings are saved that the built-in responder does not read. */
export const SAVED_UNREAD = 'Saved. It has an effect once a language model answers.'

const BUILTIN = 'the built-in responder'

type AnsweringModel = {
  /** The choices of the field for the model. */
  options: (readonly [string, string])[]
  /** Whether the model quotes the sources and reads neither instructions nor temperature. */
  isBuiltin: boolean
}

/** Returns what is known of the model that `chosen`, the value of an agent's `model`, stands for. */
export function useAnsweringModel(chosen: string): AnsweringModel {
  const { data } = useQuery(reading('/models'))
  const models = data?.models ?? []
  const auto = models.find(({ isAuto }) => isAuto)
  const answering = chosen === 'auto' ? auto : models.find(({ id }) => id === chosen)
  const labelOf = (id: string): string => (id === 'builtin' ? BUILTIN : id)
  const ids = new Set([...models.map(({ id }) => id), chosen].filter((id) => id !== 'auto'))
  return {
    options: [
      ['auto', auto ? `auto (now ${labelOf(auto.id)})` : 'auto (the default of the installation)'],
      ...[...ids].map((id) => [id, labelOf(id)] as const),
    ],
    isBuiltin: answering?.provider === 'builtin',
  }
}

/** The hint of a field that the built-in responder does not read. */
export const notRead = (what: 'instructions' | 'temperature'): ReactNode => (
  <>
    The built-in responder, which answers for this agent, quotes the sources and{' '}
    {what === 'instructions' ? 'does not follow instructions' : 'has no temperature'}.{' '}
    <a href="/docs/operations/models.md" target="_blank" rel="noreferrer">
      How to connect a language model
    </a>
  </>
)
