import { useState } from 'react'
import type { Agent } from '../app/api.ts'
import { Button } from '../ui/button.tsx'
import { Actions, Form, TextArea } from '../ui/field.tsx'
import { Section } from '../ui/page.tsx'
import { sentenceOf } from '../ui/state.tsx'
import { useSaveAgent } from './use-save-agent.ts'

export function AllowedSites({ agent }: { agent: Agent }) {
  const save = useSaveAgent(agent)
  const [text, setText] = useState((agent.allowedDomains ?? []).join('\n'))
  const domains = text.split(/[\s,]+/).filter(Boolean)
  return (
    <Section
      title="Allowed sites"
      about="Which websites may show the chat. Leave it empty to allow all of them."
    >
      <Form save={save} onSubmit={() => save.mutate({ allowedDomains: domains.length > 0 ? domains : null })}>
        <TextArea
          label="Domains"
          hideLabel
          rows={2}
          placeholder="example.com"
          value={text}
          onChange={({ target }) => setText(target.value)}
          hint="One per line. example.com includes its subdomains."
          error={save.error && sentenceOf(save.error)}
        />
        <Actions>
          <Button small type="submit" pending={save.isPending}>
            Save the sites
          </Button>
        </Actions>
      </Form>
    </Section>
  )
}
