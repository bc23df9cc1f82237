import type { Agent } from '../app/api.ts'
import { useSaveAgent } from '../deploy/use-save-agent.ts'
import { Form, FormActions, TextArea } from '../ui/field.tsx'
import { Card, Section } from '../ui/page.tsx'

const KINDS = [
  ['dailyConversations', 'Send the daily conversation digest to'],
  ['dailyLeadsCollected', 'Send the daily lead digest to'],
] as const

/** Selects the notifications and the recipients of daily mails. */
export function Notifications({ agent }: { agent: Agent }) {
  const save = useSaveAgent(agent)
  const submit = (fields: FormData): void => {
    const notifications = KINDS.map(([kind]) => {
      const emails = String(fields.get(kind))
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
          <FormActions save={save} label="Save the addresses" />
        </Form>
      </Card>
    </Section>
  )
}
