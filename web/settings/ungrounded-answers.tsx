import { useCan } from '../app/session.ts'
import { Form, FormActions, Select } from '../ui/field.tsx'
import { Card, Section } from '../ui/page.tsx'
import { type Guardrails, type SeenGuardrails, useSaveGuardrails } from './use-guardrails.ts'

const CHOICES: readonly (readonly [Guardrails['ungrounded'], string])[] = [
  ['mark', 'Send them, and mark the values for the team'],
  ['ask_again', 'Ask the model once more, then send and mark'],
  ['hold', 'Hold them for a person'],
]

/** What happens to answers with values that their model was not given. */
export function UngroundedAnswers({ agentId, seen }: { agentId: string; seen: SeenGuardrails }) {
  const can = useCan()
  const save = useSaveGuardrails(agentId, seen)
  const submit = (form: FormData): void => {
    const chosen = form.get('ungrounded')
    save.mutate({ ungrounded: CHOICES.find(([value]) => value === chosen)?.[0] ?? 'mark' })
  }
  return (
    <Section
      title="Values that the model was not given"
      about="Numbers, dates and addresses of an answer that stand neither in the passages, nor in what actions returned, nor in the conversation."
    >
      <Card>
        <Form save={save} onSubmit={submit}>
          <Select
            label="Answers by mail and messaging that have some"
            name="ungrounded"
            disabled={!can('agents:write')}
            defaultValue={seen.ungrounded}
            options={CHOICES}
            hint="A held answer is a note of a ticket, and the customer reads that your team will answer. Answers of the chat and of the API are marked."
          />
          <FormActions save={save} label="Save the choice" may={can('agents:write')} />
        </Form>
      </Card>
    </Section>
  )
}
