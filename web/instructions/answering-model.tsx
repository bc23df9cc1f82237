import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { reading } from '../app/api.ts'
import { base } from '../app/base.ts'

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

/** The hints of fields that the built-in responder does not read. */
export const NOT_READ: Record<'instructions' | 'temperature', ReactNode> = {
  instructions: (
    <>
      The built-in responder quotes the sources and does not follow instructions.{' '}
      <a href={`${base}/docs/operations/models.md`} target="_blank" rel="noreferrer">
        How to connect a language model
      </a>
    </>
  ),
  temperature: 'The built-in responder has no temperature.',
}
