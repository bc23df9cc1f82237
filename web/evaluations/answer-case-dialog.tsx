import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type OutputOf, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Form, FormActions, Select, TextArea, TextField } from '../ui/field.tsx'
import { tell } from '../ui/toast.tsx'

export type AnswerCase = OutputOf<'GET', '/agents/{agentId}/answer-cases'>['data'][number]
type Draft = Pick<AnswerCase, 'name' | 'messages' | 'expect'> & { id?: string }

export const NEW_CASE: Draft = { name: '', messages: [], expect: {} }

const CHOICES = [
  ['', 'Does not matter'],
  ['true', 'Yes'],
  ['false', 'No'],
] as const

const linesIn = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

type AnswerCaseDialogProps = { agentId: string; start: Draft; onClose: () => void }

/** Adds a conversation that the agent is tested with, or changes the one that `start` identifies. */
export function AnswerCaseDialog({ agentId, start, onClose }: AnswerCaseDialogProps) {
  const { expect } = start
  const [draft, setDraft] = useState({
    name: start.name,
    messages: start.messages.join('\n'),
    holds: (expect.holds ?? []).join('\n'),
    lacks: (expect.lacks ?? []).join('\n'),
    calls: (expect.calls ?? []).join('\n'),
    source: expect.cites?.[0] ?? '',
    declines: String(expect.declines ?? ''),
    handsOver: String(expect.handsOver ?? ''),
    means: expect.means ?? '',
    sounds: expect.sounds ?? '',
  })
  const field = (name: keyof typeof draft) => ({
    value: draft[name],
    onChange: ({ target }: { target: { value: string } }) =>
      setDraft((now) => ({ ...now, [name]: target.value })),
  })
  const choice = (name: 'source' | 'declines' | 'handsOver') => ({
    value: draft[name],
    onChoose: (chosen: string) => setDraft((now) => ({ ...now, [name]: chosen })),
  })
  const sources = useQuery(
    reading('/agents/{agentId}/sources', { params: { agentId }, query: { limit: 100 } }),
  )
  const save = useSave(agentId, start.id, onClose)
  return (
    <Dialog title={start.id ? 'Change the case' : 'Add a case'} isOpen onClose={onClose} wide>
      <Form
        save={save}
        onSubmit={() =>
          save.mutate({
            name: draft.name,
            messages: linesIn(draft.messages),
            expect: expectOf(draft, expect),
          })
        }
      >
        <TextField label="Name" required maxLength={200} {...field('name')} />
        <TextArea
          label="What the customer writes"
          hint="One message a line; the last answer is checked."
          rows={2}
          required
          {...field('messages')}
        />
        <TextArea label="The answer holds" hint="One text a line." rows={2} {...field('holds')} />
        <TextArea label="The answer does not hold" hint="One text a line." rows={2} {...field('lacks')} />
        <Select
          label="The answer cites"
          options={[
            ['', 'Any source or none'],
            ...(sources.data?.data ?? []).map(({ id, name }) => [id, name ?? 'Untitled'] as const),
          ]}
          {...choice('source')}
        />
        <TextArea
          label="Actions that are called"
          hint="One name a line. None is run."
          rows={1}
          {...field('calls')}
        />
        <Select label="It says that it does not know" options={CHOICES} {...choice('declines')} />
        <Select label="It passes the customer to a person" options={CHOICES} {...choice('handsOver')} />
        <TextArea
          label="A right answer says"
          hint="Judged by a model, when a run asks for it."
          rows={2}
          maxLength={4_000}
          {...field('means')}
        />
        <TextField label="It sounds" hint="Judged by a model, too." maxLength={500} {...field('sounds')} />
        <FormActions save={save} kind="primary" label="Save the case" onCancel={onClose} />
      </Form>
    </Dialog>
  )
}

type Fields = Record<
  'holds' | 'lacks' | 'calls' | 'source' | 'declines' | 'handsOver' | 'means' | 'sounds',
  string
>

/** Sources beyond the first, which only the API sets, stay. */
function expectOf(draft: Fields, before: AnswerCase['expect']): AnswerCase['expect'] {
  const lists = (['holds', 'lacks', 'calls'] as const).map((name) => [name, linesIn(draft[name])] as const)
  const answers = (['declines', 'handsOver'] as const).filter((name) => draft[name] !== '')
  const texts = (['means', 'sounds'] as const).filter((name) => draft[name].trim() !== '')
  const others = draft.source === before.cites?.[0] ? (before.cites ?? []).slice(1) : []
  return {
    ...Object.fromEntries(lists.filter(([, texts]) => texts.length > 0)),
    ...(draft.source === '' ? {} : { cites: [draft.source, ...others] }),
    ...Object.fromEntries(answers.map((name) => [name, draft[name] === 'true'])),
    ...Object.fromEntries(texts.map((name) => [name, draft[name].trim()])),
  }
}

const PATH = '/agents/{agentId}/answer-cases'

function useSave(agentId: string, caseId: string | undefined, onSaved: () => void) {
  return useMutation({
    meta: { quiet: true },
    mutationFn: (body: Omit<Draft, 'id'>) =>
      caseId === undefined
        ? call('POST', PATH, { params: { agentId }, body })
        : call('PUT', `${PATH}/{caseId}`, { params: { agentId, caseId }, body }),
    onSuccess: () => {
      tell('done', 'The case is part of the next test.')
      void fetchAgain(PATH)
      onSaved()
    },
  })
}
