import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call, reading } from '../app/api.ts'
import { saveVersion } from '../app/conflicts.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Check, Form, FormActions, Select, TextArea, TextField } from '../ui/field.tsx'
import { Plus, Trash2 } from '../ui/icons.ts'
import { Quoted } from '../ui/quoted.tsx'
import { Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import { type CaseStart, caseOf, type Draft, draftOf, type TEXTS } from './answer-case-draft.ts'
import classes from './evaluations.module.css'

const PATH = '/agents/{agentId}/answer-cases'
const CHOICES = [
  ['', 'Does not matter'],
  ['true', 'Yes'],
  ['false', 'No'],
] as const

/** What a case was proposed from, to be read before it is confirmed. */
type Proposal = { marks: string[]; answer: string }
type AnswerCaseDialogProps = {
  agentId: string
  start: CaseStart
  proposal?: Proposal
  onClose: () => void
}

/** Adds a conversation that the agent is tested with, or changes the one that `start` identifies. */
export function AnswerCaseDialog({ agentId, start, proposal, onClose }: AnswerCaseDialogProps) {
  const { id } = start
  const stored = useQuery({
    ...reading(`${PATH}/{caseId}`, { params: { agentId, caseId: id ?? '' } }),
    enabled: id !== undefined,
    // What is typed is compared with what was shown first.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const title = proposal ? 'Make a test case' : id ? 'Change the case' : 'Add a case'
  return (
    <Dialog title={title} isOpen onClose={onClose} wide>
      {id === undefined ? (
        <CaseForm agentId={agentId} start={start} proposal={proposal} onClose={onClose} />
      ) : (
        <Loaded of={stored}>
          {(read) => <CaseForm agentId={agentId} start={read} proposal={proposal} onClose={onClose} />}
        </Loaded>
      )}
    </Dialog>
  )
}

type CaseFormProps = Omit<AnswerCaseDialogProps, 'proposal'> & { proposal: Proposal | undefined }

function CaseForm({ agentId, start, proposal, onClose }: CaseFormProps) {
  const [draft, setDraft] = useState(() => draftOf(start))
  const save = useSave(agentId, start, onClose)
  const change = (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part }))
  const fields: Fields = {
    field: (name) => ({
      value: draft[name],
      onChange: ({ target }) => change({ [name]: target.value }),
    }),
    choice: (name) => ({
      value: draft[name],
      onChoose: (chosen: string) => change({ [name]: chosen }),
    }),
  }
  return (
    <Form save={save} more={draft} onSubmit={() => save.mutate(draft)}>
      {proposal && <ProposalNote {...proposal} />}
      <TextField label="Name" required maxLength={200} {...fields.field('name')} />
      <Messages draft={draft} onChange={(messages) => change({ messages })} />
      <Check
        label="A model plays the customer after that"
        hint="Until the customer is content, gives up, or has written the most messages."
        checked={draft.isPlayed}
        onChange={({ target }) => change({ isPlayed: target.checked })}
      />
      {draft.isPlayed && <Customer {...fields} />}
      <Expected agentId={agentId} draft={draft} {...fields} />
      <FormActions
        save={save}
        kind="primary"
        label={proposal ? 'Confirm the case' : 'Save the case'}
        onCancel={onClose}
      />
    </Form>
  )
}

type Name = (typeof TEXTS)[number]
type Fields = {
  field: (name: Name) => { value: string; onChange: (event: { target: { value: string } }) => void }
  choice: (name: Name) => { value: string; onChoose: (chosen: string) => void }
}

const ProposalNote = ({ marks, answer }: Proposal) => (
  <>
    <p className={classes.faint}>
      {marks.length > 0
        ? `What is known of the customer was replaced: ${marks.join(', ')}. `
        : 'Nothing that is known of the customer was found in it. '}
      Read the texts before you confirm them: the names of others may still be there. The case is deleted with
      its conversation.
    </p>
    {answer.trim() !== '' && <Quoted label="What was answered" text={answer} />}
  </>
)

function Messages({ draft, onChange }: { draft: Draft; onChange: (messages: string[]) => void }) {
  const { messages, isPlayed } = draft
  return (
    <fieldset className={classes.messages}>
      {messages.length !== 1 && <legend>What the customer writes</legend>}
      {messages.map((text, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages keep their order
        <div key={at} className={classes.message}>
          <TextArea
            label={messages.length === 1 ? 'What the customer writes' : `Message ${at + 1}`}
            rows={2}
            required={!isPlayed}
            maxLength={10_000}
            dir="auto"
            value={text}
            onChange={({ target }) => onChange(messages.with(at, target.value))}
          />
          {(messages.length > 1 || isPlayed) && (
            <IconButton
              icon={Trash2}
              label={`Remove message ${at + 1}`}
              onClick={() => onChange(messages.toSpliced(at, 1))}
            />
          )}
        </div>
      ))}
      {messages.length < 10 && (
        <Button small icon={Plus} onClick={() => onChange([...messages, ''])}>
          {messages.length === 0 ? 'Add a first message' : 'Add a message'}
        </Button>
      )}
    </fieldset>
  )
}

const Customer = ({ field }: Fields) => (
  <>
    <TextArea
      label="Who the customer is"
      hint="The customer writes in the language of this text."
      rows={2}
      required
      maxLength={2_000}
      {...field('persona')}
    />
    <TextArea label="What the customer wants" rows={2} required maxLength={2_000} {...field('goal')} />
    <TextField label="How the customer behaves (optional)" maxLength={500} {...field('temper')} />
    <TextField label="The most messages" type="number" min={1} max={10} required {...field('maxMessages')} />
  </>
)

function Expected({ agentId, draft, field, choice }: Fields & { agentId: string; draft: Draft }) {
  const sources = useQuery(
    reading('/agents/{agentId}/sources', { params: { agentId }, query: { limit: 100 } }),
  )
  const named = (sources.data?.data ?? []).map(({ id, name }) => [id, name ?? 'Untitled'] as const)
  const isOther = draft.source !== '' && !named.some(([id]) => id === draft.source)
  const answer = draft.isPlayed ? 'One of the answers' : 'The answer'
  return (
    <>
      <TextArea label={`${answer} holds`} hint="One text a line." rows={2} {...field('holds')} />
      <TextArea
        label={draft.isPlayed ? 'No answer holds' : 'The answer does not hold'}
        hint="One text a line."
        rows={2}
        {...field('lacks')}
      />
      <Select
        label={`${answer} cites`}
        options={[
          ['', 'Any source or none'],
          ...named,
          ...(isOther ? [[draft.source, 'Another source'] as const] : []),
        ]}
        {...choice('source')}
      />
      <TextArea
        label="Actions that are called"
        hint="One name a line. None is run."
        rows={1}
        {...field('calls')}
      />
      <TextArea
        label="What actions return (optional)"
        hint="An object in JSON, by the names of the actions. An action without a result here returns an error."
        rows={draft.results ? 5 : 1}
        spellCheck={false}
        {...field('results')}
      />
      <Select label="It says that it does not know" options={CHOICES} {...choice('declines')} />
      <Select label="It passes the customer to a person" options={CHOICES} {...choice('handsOver')} />
      {draft.isPlayed && (
        <Select
          label="The customer gets what they want"
          hint="Judged by a model, when a run asks for it."
          options={CHOICES}
          {...choice('reachesGoal')}
        />
      )}
      <TextArea
        label="A right answer says"
        hint="Judged by a model, when a run asks for it."
        rows={2}
        maxLength={4_000}
        {...field('means')}
      />
      <TextField label="It sounds" hint="Judged by a model, too." maxLength={500} {...field('sounds')} />
    </>
  )
}

function useSave(agentId: string, start: CaseStart, onSaved: () => void) {
  return useMutation({
    meta: { quiet: true },
    mutationFn: async (draft: Draft) => {
      const body = caseOf(draft, start)
      const { id } = start
      if (id === undefined) return call('POST', PATH, { params: { agentId }, body })
      const { conversationId: _origin, ...change } = body
      return saveVersion({
        base: start,
        fieldsOf: ({ name, messages, channel, customer, results, expect }) => ({
          name,
          messages,
          channel,
          customer,
          results,
          expect,
        }),
        // What is left out would stay as it is.
        change: { ...change, customer: change.customer ?? null, results: change.results ?? null },
        send: (sent, headers) =>
          call('PUT', `${PATH}/{caseId}`, { params: { agentId, caseId: id }, body: sent, headers }),
      })
    },
    onSuccess: () => {
      tell('done', 'The case is part of the next test.')
      void fetchAgain(PATH, `${PATH}/{caseId}`)
      onSaved()
    },
  })
}
