import { isBusy } from '../agents/status.ts'
import { call, type Source } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { plural } from '../ui/format.ts'
import { tell } from '../ui/toast.tsx'
import classes from './sources.module.css'

const PATH = '/agents/{agentId}/sources/{sourceId}'

/** Returns the parts that are left out in one line. */
export const partsOf = (leftOut: NonNullable<Source['leftOut']>): string =>
  leftOut.map(({ place, words }) => `${place} (${plural(words, 'word')})`).join(', ')

/** Lists the parts of a web page that are left out with their words, and lets them be put back. */
export function LeftOut({ agentId, source }: { agentId: string; source: Source }) {
  const can = useCan()
  const isWhole = source.wholePage === true
  const save = useMutation({
    mutationFn: () =>
      call('PUT', PATH, { params: { agentId, sourceId: source.id }, body: { wholePage: !isWhole } }),
    onSuccess: () => {
      tell('done', 'It is read again. Until then the live version answers.')
      return fetchAgain(PATH)
    },
  })
  return (
    <>
      <p className={classes.faint}>
        {source.leftOut ? partsOf(source.leftOut) : isWhole ? 'Nothing' : 'The list of pages names it'}
      </p>
      {can('sources:write') && (
        <Button small kind="quiet" pending={save.isPending || isBusy(source)} onClick={() => save.mutate()}>
          {isWhole ? 'Leave out navigation again' : 'Put everything back'}
        </Button>
      )}
    </>
  )
}
