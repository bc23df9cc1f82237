import { useState } from 'react'
import type { Agent } from '../app/api.ts'
import { useSaveAgent } from '../deploy/use-save-agent.ts'
import { Check, Form, FormActions, TextArea } from '../ui/field.tsx'
import { Card, Section } from '../ui/page.tsx'

/** Edits what counts as spam. */
export function Spam({ agent }: { agent: Agent }) {
  const save = useSaveAgent(agent)
  const settings = agent.spamSettings
  const [isOn, setIsOn] = useState(settings?.enabled ?? false)
  const submit = (fields: FormData): void => {
    const prompt = String(fields.get('prompt') ?? settings?.prompt ?? '').trim()
    save.mutate({ spamSettings: { enabled: isOn, prompt } })
  }
  return (
    <Section title="Spam" about="On the website, by mail and in messaging.">
      <Card>
        <Form save={save} onSubmit={submit}>
          <Check
            label="Pause conversations that begin with spam"
            hint="Their messages are kept and shown to your team. The agent is silent until somebody resumes it."
            checked={isOn}
            onChange={({ target }) => setIsOn(target.checked)}
          />
          {isOn && (
            <TextArea
              label="What spam is"
              name="prompt"
              rows={3}
              maxLength={2000}
              defaultValue={settings?.prompt}
              hint="Describe it in your own words for a model. Without a model, enter terms separated by commas."
              required
            />
          )}
          <FormActions save={save} label="Save the spam settings" />
        </Form>
      </Card>
    </Section>
  )
}
