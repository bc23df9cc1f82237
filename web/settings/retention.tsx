import { useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { call, reading } from '../app/api.ts'
import { saveVersion } from '../app/conflicts.ts'
import { Latest } from '../app/latest.tsx'
import { queries } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Form, FormActions, FormProblem, TextField } from '../ui/field.tsx'
import { Loaded, sentenceOf } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'

type Retained = { retentionDays: number | null; etag?: string }

/** The number of days after which conversations are deleted. */
export function Retention({ agentId }: { agentId: string }) {
  const params = { agentId }
  const can = useCan()
  const retention = useQuery(reading('/agents/{agentId}/retention', { params }))
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: ({ seen, retentionDays }: { seen: Retained; retentionDays: number | null }) =>
      saveVersion({
        base: seen,
        fieldsOf: (one) => one,
        change: { retentionDays },
        send: (body: { retentionDays: number | null }, headers) =>
          call('PUT', '/agents/{agentId}/retention', { params, body, headers }),
      }),
    onSuccess: (whose) => {
      tell('done', whose === 'mine' ? 'Saved.' : 'Nothing was saved: you see the days in use.')
      return queries.invalidateQueries({ queryKey: ['/agents/{agentId}/retention'] })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>, seen: Retained): void => {
    event.preventDefault()
    const days = String(new FormData(event.currentTarget).get('days'))
    save.mutate({ seen, retentionDays: days === '' ? null : Number(days) })
  }
  return (
    <Loaded of={retention} lines={1}>
      {(data: Retained) => (
        <Latest of={data} shows={({ retentionDays }) => retentionDays}>
          {(seen) => (
            <Form save={save} onSubmit={(event) => submit(event, seen)}>
              <TextField
                label="Days"
                name="days"
                type="number"
                min={1}
                disabled={!can('privacy:write')}
                defaultValue={seen.retentionDays ?? ''}
                hint="Leave it empty to keep them for ever. Older ones are deleted for good."
              />
              {save.error && <FormProblem>{sentenceOf(save.error)}</FormProblem>}
              {can('privacy:write') && (
                <FormActions>
                  <Button type="submit" pending={save.isPending}>
                    Save the days
                  </Button>
                </FormActions>
              )}
            </Form>
          )}
        </Latest>
      )}
    </Loaded>
  )
}
