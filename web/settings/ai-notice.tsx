import { useState } from 'react'
import type { Agent } from '../app/api.ts'
import { useSaveAgent } from '../deploy/use-save-agent.ts'
import { Check, Form, FormActions, Select, TextArea } from '../ui/field.tsx'
import { Card, Section } from '../ui/page.tsx'

/** Edits how customers are told that an AI system answers them. */
export function AiNotice({ agent }: { agent: Agent }) {
  const save = useSaveAgent(agent)
  const { enabled, text, place } = agent.aiNotice
  const [isOn, setIsOn] = useState(enabled)
  const submit = (fields: FormData): void => {
    const written = String(fields.get('text') ?? text ?? '').trim()
    const chosen = String(fields.get('place') ?? place) === 'after' ? 'after' : 'before'
    save.mutate({ aiNotice: { enabled: isOn, text: written || null, place: chosen } })
  }
  return (
    <Section title="Notice of AI" about="On the website, by mail and in messaging.">
      <Card>
        <Form onSubmit={submit}>
          <Check
            label="Tell customers that an AI system answers them"
            hint="Where the law asks for it, as in the European Union since August 2026, telling them is your duty when this is off. In applications that use the API, it always is."
            checked={isOn}
            onChange={({ target }) => setIsOn(target.checked)}
          />
          {isOn && (
            <>
              <TextArea
                label="Your own words"
                name="text"
                rows={2}
                maxLength={500}
                defaultValue={text ?? ''}
                placeholder="Your messages are answered by an AI system."
                hint="Shown as you write it to everybody. Empty: a sentence in the customer's language."
              />
              <Select
                label="Place in mails and messages"
                name="place"
                defaultValue={place}
                options={[
                  ['before', 'Before the first answer'],
                  ['after', 'After the first answer'],
                ]}
                hint="In the chat it is a line at the beginning."
              />
            </>
          )}
          <FormActions save={save} label="Save the notice" />
        </Form>
      </Card>
    </Section>
  )
}
