import type { FormEvent } from 'react'
import type { Agent } from '../app/api.ts'
import { useSaveAgent } from '../deploy/use-save-agent.ts'
import { Button } from '../ui/button.tsx'
import { Form, FormActions, FormProblem, TextArea } from '../ui/field.tsx'
import { Card, Section } from '../ui/page.tsx'
import { sentenceOf } from '../ui/state.tsx'

const KINDS = [
  ['dailyConversations', 'Send the daily conversation digest to'],
  ['dailyLeadsCollected', 'Send the daily lead digest to'],
] as const

/** Selects the notifications and the recipients of daily mails. */
export function Notifications({ agent }: { agent: Agent }) {
  const save = useSaveAgent(agent)
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const notifications = KINDS.map(([kind]) => {
      const emails = String(form.get(kind))
        .split(/[\s,;]+/)
        .filter(Boolean)
      return [kind, { active: emails.length > 0, emails }] as const
    })
    save.mutate({ notificationsSettings: Object.fromEntries(notifications) })
  }
  return (
    <Section title="Daily emails" about="Sent once a day, if there is something to report.">
      <Card>
        <Form save={save} onSubmit={submit}>
          {KINDS.map(([kind, label]) => (
            <TextArea
              key={kind}
              label={label}
              name={kind}
              rows={2}
              placeholder="name@example.com"
              defaultValue={(agent.notificationsSettings?.[kind]?.emails ?? []).join('\n')}
              hint="One address per line, at most ten. Leave it empty for no mail."
            />
          ))}
          {save.error && <FormProblem>{sentenceOf(save.error)}</FormProblem>}
          <FormActions>
            <Button type="submit" pending={save.isPending}>
              Save the addresses
            </Button>
          </FormActions>
        </Form>
      </Card>
    </Section>
  )
}
