import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { reading } from '../app/api.ts'
import { useCan } from '../app/session.ts'
import { Check, Form, FormActions, Select, TextField } from '../ui/field.tsx'
import { formatDollars, plural } from '../ui/format.ts'
import { Bar, Card, Section } from '../ui/page.tsx'
import classes from './settings.module.css'
import { type SeenGuardrails, useSaveGuardrails } from './use-guardrails.ts'

/** What the language models of the agent may cost in a month. */
export function Budget({ agentId, seen }: { agentId: string; seen: SeenGuardrails }) {
  const can = useCan()
  const save = useSaveGuardrails(agentId, seen)
  const { budget } = seen
  const [isOn, setIsOn] = useState(budget !== null)
  const isLocked = !can('agents:write')
  const submit = (form: FormData): void => {
    const atLimit = form.get('atLimit') === 'stop' ? 'stop' : 'tell'
    const alertShare = Number(form.get('alert')) / 100
    save.mutate({ budget: isOn ? { dollars: Number(form.get('dollars')), alertShare, atLimit } : null })
  }
  return (
    <Section
      title="Budget"
      about="What models may cost in a month for this agent’s customers, by the prices of the catalogue."
    >
      <Card>
        <Spent agentId={agentId} />
        <Form save={save} onSubmit={submit}>
          <Check
            label="Limit the money of a month"
            checked={isOn}
            disabled={isLocked}
            onChange={({ target }) => setIsOn(target.checked)}
          />
          {isOn && (
            <>
              <TextField
                label="Dollars a month"
                name="dollars"
                type="number"
                min={0.01}
                max={1_000_000}
                step="any"
                required
                disabled={isLocked}
                defaultValue={budget?.dollars ?? ''}
                hint="A month begins on its first day, in UTC. Answers that are being written when it is used up are finished."
              />
              <TextField
                label="Tell the owners at (percent)"
                name="alert"
                type="number"
                min={1}
                max={100}
                required
                disabled={isLocked}
                defaultValue={Math.round((budget?.alertShare ?? 0.8) * 100)}
                hint="By mail, and once more when all of it is spent. It also stands in Health."
              />
              <Select
                label="When all of it is spent"
                name="atLimit"
                disabled={isLocked}
                defaultValue={budget?.atLimit ?? 'tell'}
                options={[
                  ['tell', 'Go on answering'],
                  ['stop', 'Call no model until the month ends'],
                ]}
                hint="Without a model, customers are told the same as when the credits are used up, and people of the team are asked."
              />
            </>
          )}
          <FormActions save={save} label="Save the budget" may={!isLocked} />
        </Form>
      </Card>
    </Section>
  )
}

function Spent({ agentId }: { agentId: string }) {
  const { data } = useQuery(reading('/agents/{agentId}/spending', { params: { agentId } }))
  if (!data) return null
  const { dollars, budget, unpricedCalls } = data
  return (
    <div className={classes.spent}>
      <p>
        {formatDollars(dollars)}
        {budget && ` of ${formatDollars(budget.dollars)}`} this month
        {unpricedCalls > 0 && `, and ${plural(unpricedCalls, 'call')} whose price is not known`}
      </p>
      {budget && <Bar share={Math.min(1, dollars / budget.dollars)} label="Share of this month's budget" />}
    </div>
  )
}
