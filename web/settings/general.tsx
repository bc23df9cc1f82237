import type { Agent } from '../app/api.ts'
import { useSaveAgent } from '../deploy/use-save-agent.ts'
import { Form, FormActions, Select, TextArea, TextField } from '../ui/field.tsx'
import { Card, Section } from '../ui/page.tsx'

const lines = (text: FormDataEntryValue | null): string[] =>
  String(text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

/** The name, visibility, initial messages and limits of an agent. */
export function General({ agent }: { agent: Agent }) {
  const save = useSaveAgent(agent)
  const submit = (fields: FormData): void => save.mutate(changeOf(fields))
  const suggested = (agent.suggestedMessages ?? []).flatMap((one) =>
    one.type === 'single' ? [String(one.text)] : [],
  )
  return (
    <Section title="General">
      <Card>
        <Form save={save} onSubmit={submit}>
          <TextField label="Name" name="name" defaultValue={agent.name} required maxLength={100} />
          <Select
            label="Who can chat with it"
            name="visibility"
            defaultValue={agent.visibility}
            options={[
              ['private', 'Only this workspace and its keys'],
              ['public', 'Anyone who visits your website'],
            ]}
          />
          <TextArea
            label="Greeting"
            name="initial"
            rows={2}
            defaultValue={agent.initialMessages.join('\n')}
            hint="What it says first, one message per line."
          />
          <TextArea
            label="Suggested questions"
            name="suggested"
            rows={3}
            defaultValue={suggested.join('\n')}
            hint="One per line. Visitors can press them instead of typing."
          />
          <TextField
            label="Monthly credit limit"
            name="creditLimit"
            type="number"
            min={0}
            placeholder="No limit"
            defaultValue={agent.creditLimit ?? ''}
            hint="Leave it empty to use all that the plan has."
          />
          <RateFields limits={agent.ipRateLimits} />
          <FormActions save={save} kind="primary" label="Save" />
        </Form>
      </Card>
    </Section>
  )
}

function changeOf(form: FormData): Parameters<ReturnType<typeof useSaveAgent>['mutate']>[0] {
  const limit = String(form.get('creditLimit'))
  const suggested = lines(form.get('suggested'))
  return {
    name: String(form.get('name')).trim(),
    visibility: form.get('visibility') === 'public' ? 'public' : 'private',
    initialMessages: lines(form.get('initial')),
    suggestedMessages:
      suggested.length > 0 ? suggested.map((text, order) => ({ type: 'single', text, order })) : null,
    creditLimit: limit === '' ? null : Number(limit),
    ipRateLimits: {
      limit: Number(form.get('rate')),
      timeframe: Number(form.get('seconds')),
      message: String(form.get('refusal')).trim(),
    },
  }
}

function RateFields({ limits }: { limits: Agent['ipRateLimits'] }) {
  return (
    <>
      <TextField
        label="Messages a visitor may send"
        name="rate"
        type="number"
        min={1}
        max={200}
        defaultValue={limits.limit}
        required
      />
      <TextField
        label="Within how many seconds"
        name="seconds"
        type="number"
        min={1}
        max={3600}
        defaultValue={limits.timeframe}
        required
      />
      <TextField
        label="What a visitor who sends more is told"
        name="refusal"
        maxLength={500}
        defaultValue={limits.message}
        required
      />
    </>
  )
}
