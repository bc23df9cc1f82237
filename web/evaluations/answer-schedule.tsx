import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type InputOf, listing, type OutputOf, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import sources from '../sources/sources.module.css'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Check, Form, FormActions, Select, TextField } from '../ui/field.tsx'
import { formatNumber, formatTime, plural } from '../ui/format.ts'
import { Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import classes from './evaluations.module.css'
import { VERSIONS } from './start-answer-test.tsx'

const PATH = '/agents/{agentId}/answer-schedule'
type Schedule = NonNullable<OutputOf<'GET', typeof PATH>['schedule']>
type Body = InputOf<'PUT', typeof PATH>['body']

type AnswerScheduleProps = { agentId: string; mayWrite: boolean; onOpen: (runId: string) => void }

/** Shows when the answers are tested by themselves, and what came of the last time. */
export function AnswerSchedule({ agentId, mayWrite, onOpen }: AnswerScheduleProps) {
  const [editing, setEditing] = useState(false)
  const params = { agentId }
  const schedule = useQuery(reading(PATH, { params }))
  const remove = useMutation({
    mutationFn: () => call('DELETE', PATH, { params }),
    onSuccess: () => {
      tell('done', 'The answers are tested only when you ask for it.')
      return fetchAgain(PATH)
    },
  })
  return (
    <Section
      title="Schedule"
      about="The owners are told by mail, and Health shows it, when a test falls or stops."
      actions={
        mayWrite && (
          <div className={classes.set}>
            {schedule.data?.schedule && (
              <Button kind="danger" pending={remove.isPending} onClick={() => remove.mutate()}>
                End the schedule
              </Button>
            )}
            <Button onClick={() => setEditing(true)}>
              {schedule.data?.schedule ? 'Change the schedule' : 'Set a schedule'}
            </Button>
          </div>
        )
      }
    >
      <Loaded of={schedule}>
        {({ schedule: set }) =>
          set ? (
            <>
              <p>{wordsOf(set)}</p>
              {set.alert && (
                <p className={classes.worse} role="status">
                  {set.alert}
                </p>
              )}
              {set.lastRunId && (
                <p>
                  <button type="button" className={sources.open} onClick={() => onOpen(set.lastRunId ?? '')}>
                    See the last scheduled test
                  </button>
                </p>
              )}
            </>
          ) : (
            <p className={classes.faint}>The answers are tested only when you ask for it.</p>
          )
        }
      </Loaded>
      {editing && (
        <ScheduleDialog
          agentId={agentId}
          schedule={schedule.data?.schedule ?? null}
          onClose={() => setEditing(false)}
        />
      )}
    </Section>
  )
}

const wordsOf = ({ every, nextAt, caseIds, repeats, maxCredits }: Schedule): string =>
  [
    every === 'day' ? 'Every day' : 'Every Monday',
    `next ${formatTime(nextAt)}`,
    caseIds ? plural(caseIds.length, 'case') : 'all cases',
    repeats > 1 && `each ${formatNumber(repeats)} times`,
    maxCredits !== undefined && `at most ${formatNumber(maxCredits)} credits’ worth`,
  ]
    .filter(Boolean)
    .join(', ')

type ScheduleDialogProps = { agentId: string; schedule: Schedule | null; onClose: () => void }

function ScheduleDialog({ agentId, schedule, onClose }: ScheduleDialogProps) {
  const params = { agentId }
  const models = useQuery(reading('/models'))
  const [isSome, setIsSome] = useState(schedule?.caseIds !== undefined)
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: (body: Body) => call('PUT', PATH, { params, body }),
    onSuccess: () => {
      tell('done', 'The schedule is set.')
      void fetchAgain(PATH)
      onClose()
    },
  })
  const submit = (fields: FormData) => {
    const text = (name: string): string => String(fields.get(name) ?? '').trim()
    const [model, maxCredits, maxDollars] = [text('model'), text('maxCredits'), text('maxDollars')]
    save.mutate({
      every: fields.get('every') === 'week' ? 'week' : 'day',
      hour: Number(text('hour')),
      alertBelow: text('alertBelow') === '' ? null : Number(text('alertBelow')) / 100,
      repeats: Number(text('repeats')),
      judges: fields.get('judges') !== null,
      version: text('version') === 'draft' ? 'draft' : 'live',
      ...(isSome ? { caseIds: fields.getAll('caseId').map(String) } : {}),
      ...(maxCredits ? { maxCredits: Number(maxCredits) } : {}),
      ...(maxDollars ? { maxDollars: Number(maxDollars) } : {}),
      ...(model ? { model } : {}),
    })
  }
  return (
    <Dialog title="Schedule of the tests" isOpen onClose={onClose} wide>
      <Form save={save} onSubmit={submit}>
        <Select
          label="How often"
          name="every"
          defaultValue={schedule?.every ?? 'day'}
          options={[
            ['day', 'Every day'],
            ['week', 'Every Monday'],
          ]}
        />
        <Select
          label="At (UTC)"
          name="hour"
          defaultValue={String(schedule?.hour ?? 3)}
          options={Array.from(
            { length: 24 },
            (_, hour) => [String(hour), `${String(hour).padStart(2, '0')}:00`] as const,
          )}
        />
        <Check
          label="Only some of the cases"
          checked={isSome}
          onChange={({ target }) => setIsSome(target.checked)}
        />
        {isSome && <CaseChoices agentId={agentId} chosen={schedule?.caseIds ?? []} />}
        <TextField
          label="How often each case is asked"
          name="repeats"
          type="number"
          min={1}
          max={10}
          required
          defaultValue={schedule?.repeats ?? 1}
        />
        <Select
          label="Version"
          name="version"
          options={VERSIONS}
          defaultValue={schedule?.version ?? 'live'}
        />
        <Select
          label="Model"
          name="model"
          defaultValue={schedule?.model ?? ''}
          options={[
            ['', 'The model of the agent'],
            ...(models.data?.models ?? []).map(({ id }) => [id, id] as const),
          ]}
        />
        <Check
          label="Let a model judge the answers"
          name="judges"
          defaultChecked={schedule?.judges ?? false}
        />
        <Limits schedule={schedule} />
        <FormActions save={save} kind="primary" label="Set the schedule" onCancel={onClose} />
      </Form>
    </Dialog>
  )
}

function Limits({ schedule }: { schedule: Schedule | null }) {
  return (
    <>
      <TextField
        label="Tell the owners when fewer pass than (percent, optional)"
        name="alertBelow"
        type="number"
        min={0}
        max={100}
        step="any"
        defaultValue={
          schedule ? (schedule.alertBelow === null ? '' : Math.round(schedule.alertBelow * 100)) : 100
        }
        hint="They are told in any case of a test that is worse than the one before by more than chance, and of one that stops."
      />
      <TextField
        label="At most this many credits’ worth (optional)"
        name="maxCredits"
        type="number"
        min={1}
        defaultValue={schedule?.maxCredits ?? ''}
        hint="No credits are charged; the model's provider may cost money."
      />
      <TextField
        label="At most this much money, in dollars (optional)"
        name="maxDollars"
        type="number"
        min={0.0001}
        step="any"
        defaultValue={schedule?.maxDollars ?? ''}
      />
    </>
  )
}

/** Lets the reader choose cases, of which the form sends the ids. */
function CaseChoices({ agentId, chosen }: { agentId: string; chosen: readonly string[] }) {
  const cases = useInfiniteQuery(
    listing('/agents/{agentId}/answer-cases', { params: { agentId }, query: { limit: 100 } }),
  )
  return (
    <fieldset className={classes.choices}>
      <legend>Cases</legend>
      {(cases.data?.pages ?? [])
        .flatMap(({ data }) => data)
        .map(({ id, name }) => (
          <Check key={id} label={name} name="caseId" value={id} defaultChecked={chosen.includes(id)} />
        ))}
      {cases.hasNextPage && (
        <Button small pending={cases.isFetchingNextPage} onClick={() => void cases.fetchNextPage()}>
          Show more
        </Button>
      )}
    </fieldset>
  )
}
