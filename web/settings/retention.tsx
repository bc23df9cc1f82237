import { useQuery } from '@tanstack/react-query'
import { call, reading } from '../app/api.ts'
import { saveVersion } from '../app/conflicts.ts'
import { Latest } from '../app/latest.tsx'
import { fetchAgain } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Check, Form, FormActions, TextField } from '../ui/field.tsx'
import { Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'

type Days = { retentionDays: number | null; promptDays: number | null; redactPaymentNumbers: boolean }
type Retained = Days & { etag?: string }

/** The numbers of days for which conversations, and prompts with answers, are kept. */
export function Retention({ agentId }: { agentId: string }) {
  const params = { agentId }
  const can = useCan()
  const retention = useQuery(reading('/agents/{agentId}/retention', { params }))
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: ({ seen, ...days }: { seen: Retained } & Days) =>
      saveVersion({
        base: seen,
        fieldsOf: (one) => one,
        change: days,
        send: (body: Days, headers) => call('PUT', '/agents/{agentId}/retention', { params, body, headers }),
      }),
    onSuccess: (whose) => {
      tell('done', whose === 'mine' ? 'Saved.' : 'Nothing was saved: you see the days in use.')
      return fetchAgain('/agents/{agentId}/retention')
    },
  })
  const submit = (form: FormData, seen: Retained): void => {
    const daysOf = (name: string): number | null => {
      const days = String(form.get(name))
      return days === '' ? null : Number(days)
    }
    save.mutate({
      seen,
      retentionDays: daysOf('days'),
      promptDays: daysOf('promptDays'),
      redactPaymentNumbers: form.get('redact') !== null,
    })
  }
  return (
    <Loaded of={retention} lines={1}>
      {(data: Retained) => (
        <Latest
          of={data}
          shows={({ retentionDays, promptDays, redactPaymentNumbers }) =>
            `${retentionDays} ${promptDays} ${redactPaymentNumbers}`
          }
        >
          {(seen) => (
            <Form save={save} onSubmit={(fields) => submit(fields, seen)}>
              <TextField
                label="Days"
                name="days"
                type="number"
                min={1}
                disabled={!can('privacy:write')}
                defaultValue={seen.retentionDays ?? ''}
                hint="Leave it empty to keep them for ever. Older ones are deleted for good."
              />
              <TextField
                label="Days for prompts"
                name="promptDays"
                type="number"
                min={1}
                disabled={!can('privacy:write')}
                defaultValue={seen.promptDays ?? ''}
                hint="What the model read is kept with each answer for so many days, to explain it. Leave it empty to keep none of it."
              />
              <Check
                label="Take the numbers of cards and bank accounts out of what customers write before a model reads it"
                name="redact"
                disabled={!can('privacy:write')}
                defaultChecked={seen.redactPaymentNumbers}
              />
              <FormActions save={save} may={can('privacy:write')} label="Save the days" />
            </Form>
          )}
        </Latest>
      )}
    </Loaded>
  )
}
