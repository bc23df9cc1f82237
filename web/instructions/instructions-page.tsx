import { useState } from 'react'
import type { Agent } from '../app/api.ts'
import { Latest } from '../app/latest.tsx'
import { useAgent, useAgentId } from '../app/session.ts'
import { useSaveAgent } from '../deploy/use-save-agent.ts'
import { Button } from '../ui/button.tsx'
import fields from '../ui/field.module.css'
import { Form, FormActions, Select, TextArea, TextField } from '../ui/field.tsx'
import { Card, Page, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { NOT_READ, SAVED_UNREAD, useAnsweringModel } from './answering-model.tsx'
import { Diff } from './diff.tsx'
import { Versions } from './versions.tsx'

/** The editor of an agent's instructions and model, with the earlier versions below. */
export function InstructionsPage() {
  const agentId = useAgentId()
  const agent = useAgent(agentId)
  return (
    <Page title="Instructions" narrow about="Who the agent is, how it talks, and what it leaves to people.">
      <Loaded of={agent}>
        {(data) => (
          <>
            <Latest key={data.id} of={data} shows={draftOf}>
              {(agent) => <Editor agent={agent} />}
            </Latest>
            <Versions agent={data} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

const EXAMPLE =
  'You are Lumi, the assistant of Bright Lamps. Be brief and friendly, and say “you”. Leave complaints to people.'

const draftOf = ({ instructions, model, temp }: Agent) => ({ instructions, model, temp: String(temp) })

function Editor({ agent }: { agent: Agent }) {
  const saved = draftOf(agent)
  const [draft, setDraft] = useState(saved)
  const change = (part: Partial<typeof draft>) => setDraft((now) => ({ ...now, ...part }))
  const isChanged = JSON.stringify(draft) !== JSON.stringify(saved)
  const { options, isBuiltin } = useAnsweringModel(draft.model)
  const save = useSaveAgent(agent, isBuiltin ? SAVED_UNREAD : 'The next answer follows it.')
  return (
    <Form save={save} onSubmit={() => save.mutate({ ...draft, temp: Number(draft.temp) })}>
      <Card>
        <div className={fields.form}>
          <TextArea
            label="Instructions"
            rows={14}
            placeholder={EXAMPLE}
            value={draft.instructions}
            onChange={({ target }) => change({ instructions: target.value })}
            maxLength={50_000}
            hint={
              isBuiltin
                ? NOT_READ.instructions
                : 'You need not tell it to answer from its sources, to cite them, or to say when it does not know: it always does.'
            }
          />
          <Select
            label="Model"
            options={options}
            value={draft.model}
            onChoose={(chosen) => change({ model: chosen })}
          />
          <TextField
            label={`Temperature: ${draft.temp}`}
            type="range"
            min={0}
            max={1}
            step={0.1}
            value={draft.temp}
            onChange={({ target }) => change({ temp: target.value })}
            hint={
              isBuiltin ? NOT_READ.temperature : 'At 0 it says the same each time; at 1 it varies its words.'
            }
          />
        </div>
      </Card>
      {draft.instructions !== saved.instructions && (
        <Section title="What changes">
          <Diff before={saved.instructions} after={draft.instructions} />
        </Section>
      )}
      <FormActions save={save} kind="primary" disabled={!isChanged} label="Save">
        {isChanged && (
          <Button kind="quiet" onClick={() => setDraft(saved)}>
            Discard
          </Button>
        )}
      </FormActions>
    </Form>
  )
}
