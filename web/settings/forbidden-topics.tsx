import { useState } from 'react'
import { useCan } from '../app/session.ts'
import { Button } from '../ui/button.tsx'
import { Check, Form, FormActions, TextField } from '../ui/field.tsx'
import { Card, Section } from '../ui/page.tsx'
import classes from './settings.module.css'
import { type Guardrails, type SeenGuardrails, useSaveGuardrails } from './use-guardrails.ts'

type Topic = Guardrails['forbiddenTopics'][number]
type Row = Topic & { key: number }

const MOST = 20

/** Edits the topics that the agent must not talk about. */
export function ForbiddenTopics({ agentId, seen }: { agentId: string; seen: SeenGuardrails }) {
  const can = useCan()
  const save = useSaveGuardrails(agentId, seen)
  const [rows, setRows] = useState<Row[]>(seen.forbiddenTopics.map((topic, key) => ({ ...topic, key })))
  const isLocked = !can('agents:write')
  const change = (key: number, part: Partial<Topic>): void =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...part } : row)))
  const add = (): void => {
    const key = Math.max(-1, ...rows.map((row) => row.key)) + 1
    setRows([...rows, { key, topic: '', say: null, escalate: false }])
  }
  const submit = (): void => {
    save.mutate({
      forbiddenTopics: rows.map(({ topic, say, escalate }) => ({
        topic: topic.trim(),
        say: say?.trim() || null,
        escalate,
      })),
    })
  }
  return (
    <Section
      title="Forbidden topics"
      about="The model is told not to talk about them, and reports when a customer does: the conversation then shows the topic. A model can be talked into much, so what must never be said does not belong in its documents. Without a model, they have no effect."
    >
      <Card>
        <Form save={save} more={rows} onSubmit={submit}>
          {rows.length === 0 && <p>There are none.</p>}
          {rows.map(({ key, topic, say, escalate }, at) => (
            <fieldset key={key} className={classes.topic} disabled={isLocked}>
              <legend>Topic {at + 1}</legend>
              <TextField
                label="Topic"
                value={topic}
                required
                maxLength={500}
                placeholder="Legal advice"
                onChange={({ target }) => change(key, { topic: target.value })}
              />
              <TextField
                label="What it says instead"
                value={say ?? ''}
                maxLength={1_000}
                placeholder="Please ask your lawyer."
                hint="Empty: its own words."
                onChange={({ target }) => change(key, { say: target.value })}
              />
              <Check
                label="Pass the conversation to a person"
                hint="Where the agent has the action that does."
                checked={escalate}
                onChange={({ target }) => change(key, { escalate: target.checked })}
              />
              {!isLocked && (
                <Button
                  small
                  kind="quiet"
                  aria-label={`Remove topic ${at + 1}`}
                  onClick={() => setRows(rows.filter((row) => row.key !== key))}
                >
                  Remove
                </Button>
              )}
            </fieldset>
          ))}
          <FormActions save={save} label="Save the topics" may={!isLocked}>
            {!isLocked && rows.length < MOST && (
              <Button kind="quiet" onClick={add}>
                Add a topic
              </Button>
            )}
          </FormActions>
        </Form>
      </Card>
    </Section>
  )
}
