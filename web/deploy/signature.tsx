import { useQuery } from '@tanstack/react-query'
import { call, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Form, FormActions, TextArea } from '../ui/field.tsx'
import { Card, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'

const PATH = '/agents/{agentId}/helpdesk/settings'

/** Edits what emails of the team end with. */
export function Signature({ agentId }: { agentId: string }) {
  const can = useCan()
  const params = { agentId }
  const settings = useQuery({ ...reading(PATH, { params }), enabled: can('helpdesk:read') })
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: (signature: string) => call('PUT', PATH, { params, body: { signature: signature || null } }),
    onSettled: () => fetchAgain(PATH),
  })
  const submit = (fields: FormData): void => save.mutate(String(fields.get('signature') ?? '').trim())
  if (!can('helpdesk:read')) return null
  return (
    <Section title="Signature" about="Emails that members of your team write end with it.">
      <Card>
        <Loaded of={settings}>
          {(data) => (
            <Form save={save} onSubmit={submit}>
              <TextArea
                label="Signature"
                name="signature"
                rows={4}
                maxLength={2_000}
                defaultValue={data.signature ?? ''}
                disabled={!can('helpdesk:write')}
                hint="Markdown. {{author.name}}, {{author.email}} and {{agent.name}} become the member and the agent."
              />
              <FormActions save={save} may={can('helpdesk:write')} label="Save the signature" />
            </Form>
          )}
        </Loaded>
      </Card>
    </Section>
  )
}
