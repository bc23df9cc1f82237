import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call, listing, type OutputOf, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import sources from '../sources/sources.module.css'
import { Button } from '../ui/button.tsx'
import { Hidden } from '../ui/hidden.tsx'
import { Ellipsis, ListChecks, Pencil, Trash2 } from '../ui/icons.ts'
import { Menu } from '../ui/menu.tsx'
import { Badge, Table } from '../ui/page.tsx'
import { ShowMore } from '../ui/show-more.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import { type Case, CaseDialog } from './case-dialog.tsx'
import classes from './evaluations.module.css'

const PATH = '/agents/{agentId}/evaluations'

type CasesProps = {
  agentId: string
  setId: string | undefined
  sets: OutputOf<'GET', '/agents/{agentId}/evaluation-sets'>['data']
  mayWrite: boolean
  onAdd: () => void
}

/** Lists the evaluation questions, of one set or of all. */
export function Cases({ agentId, setId, sets, mayWrite, onAdd }: CasesProps) {
  const [editing, setEditing] = useState<Case | null>(null)
  const params = { agentId }
  const cases = useInfiniteQuery(listing(PATH, { params, query: { limit: 50, setId } }))
  const known = useQuery(reading('/agents/{agentId}/sources', { params, query: { limit: 100 } }))
  const nameOf = (id: string): string =>
    known.data?.data.find((source) => source.id === id)?.name ?? 'A source that is gone or not listed'
  const remove = useMutation({
    mutationFn: ({ id }: Case) =>
      call('DELETE', `${PATH}/{evaluationId}`, { params: { agentId, evaluationId: id } }),
    onSuccess: (_, { id: _id, createdAt: _made, updatedAt: _changed, ...body }) => {
      void fetchAgain(PATH, '/agents/{agentId}/evaluation-sets')
      tell('done', 'The question is gone.', {
        label: 'Undo',
        run: () => void call('POST', PATH, { params, body }).then(() => fetchAgain(PATH)),
      })
    },
  })
  return (
    <>
      <Loaded of={cases}>
        {({ pages }) => {
          const all = pages.flatMap(({ data }) => data)
          if (all.length === 0) {
            return (
              <Empty
                icon={ListChecks}
                title="No question yet"
                action={mayWrite && <Button onClick={onAdd}>Add a question</Button>}
              >
                Add what customers ask, and where the answer stands. Answers of the playground can be saved as
                questions, too.
              </Empty>
            )
          }
          return (
            <div className={classes.stack}>
              <Table
                stacked
                label="Questions"
                head={['Question', 'Expected', 'Set', <Hidden key="a">Actions</Hidden>]}
              >
                {all.map((one) => (
                  <CaseRow
                    key={one.id}
                    evaluation={one}
                    source={one.expectedSourceId && nameOf(one.expectedSourceId)}
                    set={sets.find(({ id }) => id === one.setId)?.name}
                    onEdit={mayWrite ? () => setEditing(one) : undefined}
                    onRemove={() => remove.mutate(one)}
                  />
                ))}
              </Table>
              <ShowMore of={cases} className={sources.more} />
            </div>
          )
        }}
      </Loaded>
      {editing && (
        <CaseDialog agentId={agentId} start={editingOf(editing)} onClose={() => setEditing(null)} />
      )}
    </>
  )
}

type CaseRowProps = {
  evaluation: Case
  source: string | null
  set: string | undefined
  /** Undefined for those who may only read. */
  onEdit: (() => void) | undefined
  onRemove: () => void
}

function CaseRow({ evaluation: one, source, set, onEdit, onRemove }: CaseRowProps) {
  return (
    <tr>
      <td className={classes.question} dir="auto">
        {one.question}
      </td>
      <td className={classes.expected} dir="auto">
        {source && <Badge tone="info">{source}</Badge>} {one.expectedAnswer}
        {!one.expectedSourceId && !one.expectedAnswer && <Badge>to be declined</Badge>}
      </td>
      <td className={classes.faint}>{set ?? '–'}</td>
      <td className={sources.end}>
        {onEdit && (
          <Menu
            label={`Actions for ${one.question}`}
            className={sources.dots}
            choices={[
              { id: 'edit', label: 'Change', icon: Pencil, onChoose: onEdit },
              {
                id: 'delete',
                label: 'Delete',
                icon: Trash2,
                danger: true,
                onChoose: onRemove,
              },
            ]}
          >
            <Ellipsis size={18} aria-hidden />
          </Menu>
        )}
      </td>
    </tr>
  )
}

const editingOf = ({ id, question, expectedSourceId, expectedAnswer, setId }: Case) => ({
  id,
  question,
  expectedSourceId,
  expectedAnswer,
  setId,
})
