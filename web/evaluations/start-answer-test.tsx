import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { call, type InputOf, type OutputOf, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Check, Form, FormActions, Select, TextArea, TextField } from '../ui/field.tsx'
import { formatDollars, formatNumber, plural } from '../ui/format.ts'
import classes from './evaluations.module.css'

const RUNS = '/agents/{agentId}/answer-runs'

export const VERSIONS = [
  ['live', 'The live agent'],
  ['draft', 'Its draft'],
] as const

type StartDialogProps = { agentId: string; onStarted: (runId: string) => void; onClose: () => void }

/** Asks what is tried, says what that takes, and starts it with the limit that its button names. */
export function StartDialog({ agentId, onStarted, onClose }: StartDialogProps) {
  const models = useQuery(reading('/models'))
  const version = useSearch({ strict: false }).version === 'draft' ? 'draft' : 'live'
  const [model, setModel] = useState('')
  const [repeats, setRepeats] = useState('1')
  const [limit, setLimit] = useState<string | null>(null)
  const isCount = Number.isInteger(Number(repeats)) && Number(repeats) >= 1 && Number(repeats) <= 10
  const estimate = useQuery({
    ...reading('/agents/{agentId}/answer-estimate', {
      params: { agentId },
      query: { repeats: Number(repeats), ...(model ? { model } : {}) },
    }),
    enabled: isCount,
  })
  const expected = isCount ? estimate.data : undefined
  const maxCredits = Number(limit ?? Math.ceil(expected?.credits ?? 0))
  const start = useStart(agentId, onStarted)
  const submit = (fields: FormData) => {
    const text = (name: string): string => String(fields.get(name) ?? '').trim()
    const [instructions, maxDollars] = [text('instructions'), text('maxDollars')]
    start.mutate({
      note: text('note'),
      repeats: Number(repeats),
      judges: fields.get('judges') !== null,
      version: text('version') === 'draft' ? 'draft' : 'live',
      ...(maxCredits > 0 ? { maxCredits } : {}),
      ...(maxDollars ? { maxDollars: Number(maxDollars) } : {}),
      ...(model ? { model } : {}),
      ...(instructions ? { instructions } : {}),
    })
  }
  return (
    <Dialog title="Test the answers" isOpen onClose={onClose} wide>
      <Form save={start} onSubmit={submit}>
        <TextField
          label="Note (optional)"
          name="note"
          maxLength={200}
          hint="The note identifies the test in comparisons."
        />
        <TextField
          label="How often each case is asked"
          type="number"
          min={1}
          max={10}
          value={repeats}
          onChange={({ target }) => setRepeats(target.value)}
          required
        />
        <Select label="Version" name="version" options={VERSIONS} defaultValue={version} />
        <Select
          label="Model"
          value={model}
          onChoose={setModel}
          options={[
            ['', 'The model of the agent'],
            ...(models.data?.models ?? []).map(({ id }) => [id, id] as const),
          ]}
        />
        <TextArea
          label="Instructions (optional)"
          name="instructions"
          maxLength={50_000}
          rows={4}
          hint="In place of the agent's, for this test alone."
        />
        <Check
          label="Let a model judge the answers"
          name="judges"
          hint="Claim by claim, against what the agent was given, and by what a right answer says and how it sounds. That takes another call of a model for each answer that no other check has failed."
        />
        <Limits
          credits={limit ?? (expected ? String(Math.ceil(expected.credits)) : '')}
          onCredits={setLimit}
        />
        <Expected of={expected} />
        <FormActions
          save={start}
          kind="primary"
          label={
            maxCredits > 0 ? `Start, at most ${formatNumber(maxCredits)} credits’ worth` : 'Start the test'
          }
          disabled={!expected}
          onCancel={onClose}
        />
      </Form>
    </Dialog>
  )
}

function useStart(agentId: string, onStarted: (runId: string) => void) {
  return useMutation({
    meta: { quiet: true },
    mutationFn: (body: InputOf<'POST', typeof RUNS>['body']) =>
      call('POST', RUNS, { params: { agentId }, body }),
    onSuccess: (run) => {
      void fetchAgain(RUNS)
      onStarted(run.id)
    },
  })
}

type Estimate = OutputOf<'GET', '/agents/{agentId}/answer-estimate'>

const Expected = ({ of }: { of: Estimate | undefined }) => (
  <p role="status" className={classes.faint}>
    {of ? wordsOf(of) : 'How much it takes is being counted.'}
  </p>
)

function wordsOf({ model, messages, tests, credits, dollars }: Estimate): string {
  const money =
    dollars === null
      ? 'money that is not known before the first test, or without a price'
      : `about ${formatDollars(dollars)}`
  return `${model} writes ${plural(messages, 'answer')} in ${plural(tests, 'conversation')}: ${formatNumber(credits)} credits’ worth, and ${money}.`
}

type LimitsProps = { credits: string; onCredits: (credits: string) => void }

const Limits = ({ credits, onCredits }: LimitsProps) => (
  <>
    <TextField
      label="At most this many credits’ worth"
      type="number"
      min={1}
      value={credits}
      onChange={({ target }) => onCredits(target.value)}
      hint="No credits are charged. The test stops before its answers would pass this."
    />
    <TextField
      label="At most this much money, in dollars (optional)"
      name="maxDollars"
      type="number"
      min={0.0001}
      step="any"
      hint="Only for models whose price is known."
    />
  </>
)
