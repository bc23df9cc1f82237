import { useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { call, reading } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Form, FormActions, FormProblem, TextField } from '../ui/field.tsx'
import { Loaded, sentenceOf } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'

/** The number of days after which conversations are deleted. */
export function Retention({ agentId }: { agentId: string }) {
  const params = { agentId }
  const can = useCan()
  const retention = useQuery(reading('/agents/{agentId}/retention', { params }))
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: (retentionDays: number | null) =>
      call('PUT', '/agents/{agentId}/retention', { params, body: { retentionDays } }),
    onSuccess: () => {
      tell('done', 'Saved.')
      return queries.invalidateQueries({ queryKey: ['/agents/{agentId}/retention'] })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const days = String(new FormData(event.currentTarget).get('days'))
    save.mutate(days === '' ? null : Number(days))
  }
  return (
    <Loaded of={retention} lines={1}>
      {({ retentionDays }) => (
        <Form onSubmit={submit}>
          <TextField
            label="Days"
            name="days"
            type="number"
            min={1}
            disabled={!can('privacy:write')}
            defaultValue={retentionDays ?? ''}
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
    </Loaded>
  )
}
