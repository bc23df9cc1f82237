import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { flushSync } from 'react-dom'
import actions from '../actions/actions.module.css'
import { call, type OutputOf, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Form, FormActions, Select, TextArea, TextField } from '../ui/field.tsx'
import { ArrowDown, ArrowUp, Plus, X } from '../ui/icons.ts'
import { Card } from '../ui/page.tsx'
import { tell } from '../ui/toast.tsx'

const PATH = '/agents/{agentId}/procedures'
type Procedure = OutputOf<'GET', `${typeof PATH}/{procedureId}`>
type Step = { id: number; instruction: string; action: string }

type ProcedureFormProps = { agentId: string; procedure: Procedure | null }

/** The form of a procedure; `procedure` is null for a new one. */
export function ProcedureForm({ agentId, procedure }: ProcedureFormProps) {
  const can = useCan()
  const [name, setName] = useState(procedure?.name ?? '')
  const [trigger, setTrigger] = useState(procedure?.trigger ?? '')
  const [steps, setSteps] = useState<Step[]>(
    () =>
      procedure?.steps.map(({ instruction, action }, id) => ({ id, instruction, action: action ?? '' })) ?? [
        { id: 0, instruction: '', action: '' },
      ],
  )
  const save = useSaveProcedure({ agentId, procedure })
  return (
    <Form save={save} onSubmit={() => save.mutate({ name, trigger, steps })}>
      <Card className={actions.stack}>
        <TextField
          label="Name"
          required
          maxLength={100}
          placeholder="Late order"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <TextArea
          label="Situation"
          required
          rows={2}
          maxLength={2_000}
          placeholder="Somebody says that an order has not arrived."
          value={trigger}
          onChange={({ target }) => setTrigger(target.value)}
        />
        <StepFields agentId={agentId} steps={steps} onChange={setSteps} />
        <FormActions
          save={save}
          may={can('actions:write')}
          kind={procedure ? 'secondary' : 'primary'}
          label={procedure ? 'Save the procedure' : 'Add the procedure'}
        />
      </Card>
    </Form>
  )
}

type StepFieldsProps = { agentId: string; steps: Step[]; onChange: (steps: Step[]) => void }

/** The steps in their order, which buttons change. */
export function StepFields({ agentId, steps, onChange }: StepFieldsProps) {
  const known = useQuery(reading('/agents/{agentId}/actions', { params: { agentId }, query: { limit: 100 } }))
  const names = (known.data?.data ?? []).map((action) => action.name)
  const change = (id: number, part: Partial<Step>) =>
    onChange(steps.map((step) => (step.id === id ? { ...step, ...part } : step)))
  const move = (at: number, by: number, button: HTMLElement): void => {
    const next = [...steps]
    const [step] = next.splice(at, 1)
    if (step) next.splice(at + by, 0, step)
    flushSync(() => onChange(next))
    // The browser removes the focus from a button that moves with its step.
    button.focus()
  }
  return (
    <>
      <ol className={actions.steps} aria-label="Steps">
        {steps.map((step, at) => (
          <StepField
            key={step.id}
            step={step}
            at={at}
            count={steps.length}
            names={names}
            onChange={(part) => change(step.id, part)}
            onMove={(by, button) => move(at, by, button)}
            onRemove={() => onChange(steps.filter(({ id }) => id !== step.id))}
          />
        ))}
      </ol>
      <div>
        <Button
          small
          icon={Plus}
          disabled={steps.length >= 50}
          onClick={() =>
            onChange([
              ...steps,
              { id: Math.max(...steps.map(({ id }) => id)) + 1, instruction: '', action: '' },
            ])
          }
        >
          Add a step
        </Button>
      </div>
    </>
  )
}

type StepFieldProps = {
  step: Step
  at: number
  count: number
  names: string[]
  onChange: (part: Partial<Step>) => void
  onMove: (by: number, button: HTMLElement) => void
  onRemove: () => void
}

function StepField({ step, at, count, names, onChange, onMove, onRemove }: StepFieldProps) {
  return (
    <li className={actions.step}>
      <span className={actions.stepNumber} aria-hidden>
        {at + 1}
      </span>
      <div className={actions.stepFields}>
        <TextArea
          label={`Step ${at + 1}`}
          hideLabel
          required
          rows={2}
          maxLength={2_000}
          placeholder="What to do. Mention an action as @name."
          value={step.instruction}
          onChange={({ target }) => onChange({ instruction: target.value })}
        />
        <Select
          label={`Action of step ${at + 1}`}
          hideLabel
          options={[
            ['', 'No action'],
            ...[...new Set([...names, ...(step.action ? [step.action] : [])])].map(
              (one) => [one, `Uses ${one}`] as const,
            ),
          ]}
          value={step.action}
          onChoose={(chosen) => onChange({ action: chosen })}
        />
      </div>
      <div className={actions.stepButtons}>
        <IconButton
          icon={ArrowUp}
          label={`Move step ${at + 1} up`}
          disabled={at === 0}
          onClick={({ currentTarget }) => onMove(-1, currentTarget)}
        />
        <IconButton
          icon={ArrowDown}
          label={`Move step ${at + 1} down`}
          disabled={at === count - 1}
          onClick={({ currentTarget }) => onMove(1, currentTarget)}
        />
        <IconButton icon={X} label={`Remove step ${at + 1}`} disabled={count === 1} onClick={onRemove} />
      </div>
    </li>
  )
}

function useSaveProcedure({ agentId, procedure }: ProcedureFormProps) {
  const navigate = useNavigate()
  return useMutation({
    meta: { quiet: true },
    mutationFn: ({ name, trigger, steps }: { name: string; trigger: string; steps: Step[] }) => {
      const body = {
        name: name.trim(),
        trigger,
        steps: steps.map(({ instruction, action }) => ({ instruction, action: action || null })),
      }
      return procedure
        ? call('PUT', `${PATH}/{procedureId}`, { params: { agentId, procedureId: procedure.id }, body })
        : call('POST', PATH, { params: { agentId }, body })
    },
    onSuccess: ({ id }) => {
      tell('done', 'The procedure is saved.')
      void fetchAgain(PATH, `${PATH}/{procedureId}`)
      if (!procedure)
        void navigate({
          to: '/agents/$agentId/procedures/$procedureId',
          params: { agentId, procedureId: id },
        })
    },
  })
}
