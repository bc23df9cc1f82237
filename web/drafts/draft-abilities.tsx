import { type ReactNode, useState } from 'react'
import type { AgentDraft } from '../app/api.ts'
import { useSaved } from '../app/use-saved.ts'
import { StepFields } from '../procedures/procedure-form.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Check, Form, FormActions, TextArea } from '../ui/field.tsx'
import { Section } from '../ui/page.tsx'
import classes from './drafts.module.css'
import { useChangeDraft, useSaveDraft } from './use-draft.ts'

type Props = { agentId: string; draft: AgentDraft }
type Action = AgentDraft['actions'][number]
type Procedure = AgentDraft['procedures'][number]

/** What the agent can do, and when it does it, in the draft. */
export function DraftActions({ agentId, draft }: Props) {
  const [open, setOpen] = useState<Action | null>(null)
  const change = useChangeDraft(agentId)
  return (
    <Abilities
      title="Actions"
      about="To add one, create it under Actions, turned off, and turn it on here. What it requests is changed there, for live answers too."
      empty="The agent has no actions."
      all={draft.actions}
      aboutOf={({ description }) => description}
      onTurn={(id, enabled) => change.mutateAsync({ actions: [{ id, enabled }] })}
      onEdit={setOpen}
    >
      {open && <ActionDialog agentId={agentId} draft={draft} action={open} onClose={() => setOpen(null)} />}
    </Abilities>
  )
}

/** The procedures of the agent in the draft. */
export function DraftProcedures({ agentId, draft }: Props) {
  const [open, setOpen] = useState<Procedure | null>(null)
  const change = useChangeDraft(agentId)
  return (
    <Abilities
      title="Procedures"
      about="A procedure that needs an action which is off is off as well. To add one, create it under Procedures and turn it on here."
      empty="The agent has no procedures."
      all={draft.procedures}
      aboutOf={({ trigger }) => trigger}
      onTurn={(id, enabled) => change.mutateAsync({ procedures: [{ id, enabled }] })}
      onEdit={setOpen}
    >
      {open && (
        <ProcedureDialog agentId={agentId} draft={draft} procedure={open} onClose={() => setOpen(null)} />
      )}
    </Abilities>
  )
}

type AbilitiesProps<T> = {
  title: string
  about: string
  /** What is said when there are none. */
  empty: string
  all: readonly T[]
  aboutOf: (one: T) => string
  onTurn: (id: string, enabled: boolean) => Promise<unknown>
  onEdit: (one: T) => void
  children: ReactNode
}

/** A list of actions or procedures, each of which can be turned on or off and edited. */
function Abilities<T extends { id: string; name: string; enabled: boolean }>(props: AbilitiesProps<T>) {
  const { title, about, empty, all, aboutOf, onTurn, onEdit, children } = props
  return (
    <Section title={title} about={about}>
      {all.length === 0 ? (
        <p className={classes.faint}>{empty}</p>
      ) : (
        <ul className={classes.rows}>
          {all.map((one) => (
            <Row
              key={one.id}
              one={one}
              about={aboutOf(one)}
              onTurn={(enabled) => onTurn(one.id, enabled)}
              onEdit={() => onEdit(one)}
            />
          ))}
        </ul>
      )}
      {children}
    </Section>
  )
}

type RowProps = {
  one: { name: string; enabled: boolean }
  about: string
  onTurn: (enabled: boolean) => Promise<unknown>
  onEdit: () => void
}

function Row({ one: { name, enabled }, about, onTurn, onEdit }: RowProps) {
  const [shown, choose] = useSaved(enabled, onTurn)
  return (
    <li>
      <div>
        <Check label={name} hint={about} checked={shown} onChange={({ target }) => choose(target.checked)} />
      </div>
      <Button small kind="quiet" aria-label={`Edit ${name}`} onClick={onEdit}>
        Edit
      </Button>
    </li>
  )
}

type ActionDialogProps = Props & { action: Action; onClose: () => void }

function ActionDialog({ agentId, draft, action: { id, name }, onClose }: ActionDialogProps) {
  const [seen] = useState(draft)
  const fieldsOf = (one: AgentDraft) => ({
    description: one.actions.find((action) => action.id === id)?.description ?? '',
  })
  const save = useSaveDraft({
    ...{ agentId, draft: seen, fieldsOf },
    bodyOf: (fields) => ({ actions: [{ id, ...fields }] }),
    onSaved: onClose,
  })
  return (
    <Dialog title={`Edit ${name} in the draft`} isOpen onClose={onClose} wide>
      <Form
        save={save}
        onSubmit={(fields) => save.mutate({ description: String(fields.get('description')).trim() })}
      >
        <TextArea
          label="When it is used"
          name="description"
          rows={5}
          required
          maxLength={2_000}
          defaultValue={fieldsOf(seen).description}
          hint="Tells the model what it does and when to use it."
        />
        <FormActions save={save} kind="primary" label="Save in the draft" onCancel={onClose} />
      </Form>
    </Dialog>
  )
}

type ProcedureDialogProps = Props & { procedure: Procedure; onClose: () => void }

function ProcedureDialog({ agentId, draft, procedure, onClose }: ProcedureDialogProps) {
  const { id, name } = procedure
  const [seen] = useState(draft)
  const [trigger, setTrigger] = useState(procedure.trigger)
  const [steps, setSteps] = useState(() =>
    procedure.steps.map(({ instruction, action }, at) => ({ id: at, instruction, action: action ?? '' })),
  )
  const save = useSaveDraft({
    ...{ agentId, draft: seen },
    fieldsOf: (one) => {
      const found = one.procedures.find((other) => other.id === id) ?? procedure
      return { trigger: found.trigger, steps: found.steps }
    },
    bodyOf: (fields) => ({ procedures: [{ id, ...fields }] }),
    onSaved: onClose,
  })
  const submit = () =>
    save.mutate({
      trigger,
      steps: steps.map(({ instruction, action }) => ({ instruction, action: action || null })),
    })
  return (
    <Dialog title={`Edit ${name} in the draft`} isOpen onClose={onClose} wide>
      <Form save={save} more={steps} onSubmit={submit}>
        <TextArea
          label="Situation"
          required
          rows={2}
          maxLength={2_000}
          value={trigger}
          onChange={({ target }) => setTrigger(target.value)}
        />
        <StepFields agentId={agentId} steps={steps} onChange={setSteps} />
        <FormActions save={save} kind="primary" label="Save in the draft" onCancel={onClose} />
      </Form>
    </Dialog>
  )
}
