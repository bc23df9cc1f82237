import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { reading } from '../app/api.ts'
import { base } from '../app/base.ts'
import { useCan } from '../app/session.ts'

type Missing = { what: 'embedding' | 'language'; line: ReactNode }

/** Returns a line for each kind of model that the installation lacks: what it would add, and the way to connect one. */
export function useMissingModels(): Missing[] {
  const can = useCan()
  const { data } = useQuery({ ...reading('/models'), enabled: can('agents:read') })
  if (!data) return []
  const missing: Missing[] = []
  if (data.embedding === null)
    missing.push({
      what: 'embedding',
      line: (
        <>
          Questions find what has their words. An embedding model would also find what says the same in other
          words or in another language:{' '}
          <Link to="/workspace" search={{ tab: 'models' }}>
            get one that runs on this machine
          </Link>
        </>
      ),
    })
  if (data.models.every(({ provider }) => provider === 'builtin'))
    missing.push({
      what: 'language',
      line: (
        <>
          Answers quote the sources. A language model would answer in its own words, in the language of the
          question, and use actions:{' '}
          <a href={`${base}/docs/operations/models.md`} target="_blank" rel="noreferrer">
            connect one
          </a>
        </>
      ),
    })
  return missing
}

/** The same lines as paragraphs. */
export const MissingModels = ({ className }: { className?: string | undefined }) =>
  useMissingModels().map(({ what, line }) => (
    <p key={what} className={className}>
      {line}
    </p>
  ))
