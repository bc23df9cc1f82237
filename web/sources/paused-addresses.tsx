import { call, type Source } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { plural } from '../ui/format.ts'
import { tell } from '../ui/toast.tsx'
import classes from './sources.module.css'

const PATH = '/agents/{agentId}/sources/{sourceId}'

type Paused = { kind: 'chain' | 'value'; addresses: string; example: string; count: number }

/** Lists the crawler traps of a website, with a button to read them anyway. */
export function PausedAddresses({ agentId, source }: { agentId: string; source: Source }) {
  const can = useCan()
  const { paused = [] } = (source.metadata ?? {}) as { paused?: Paused[] }
  const readOn = useMutation({
    mutationFn: (addresses: string) =>
      call('POST', `${PATH}/read-on`, { params: { agentId, sourceId: source.id }, body: { addresses } }),
    onSuccess: () => {
      tell('done', 'They are read now, and in later crawls.')
      return fetchAgain(PATH)
    },
  })
  if (paused.length === 0) return null
  return (
    <ul className={classes.paused} aria-label="Addresses that are not read">
      {paused.map(({ kind, addresses, example, count }) => (
        <li key={addresses}>
          <p>
            {plural(count, 'address', 'addresses')} like{' '}
            <a href={example} target="_blank" rel="noopener noreferrer">
              {addresses}
            </a>{' '}
            {count === 1 ? 'was' : 'were'} not read:{' '}
            {kind === 'value'
              ? 'the page is the same whatever the value is.'
              : 'they lead on and on to pages that say nothing new.'}
          </p>
          {can('sources:write') && (
            <Button
              small
              pending={readOn.isPending && readOn.variables === addresses}
              onClick={() => readOn.mutate(addresses)}
            >
              Read on
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}
