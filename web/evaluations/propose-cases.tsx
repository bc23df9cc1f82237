import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { call, type OutputOf, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Actions, Check, Form, FormActions, FormProblem, TextField } from '../ui/field.tsx'
import { formatDollars, formatNumber, plural } from '../ui/format.ts'
import { Bar } from '../ui/page.tsx'
import { Loaded, sentenceOf } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import classes from './evaluations.module.css'

const PATH = '/agents/{agentId}/answer-cases/from-sources'
const CASES = '/agents/{agentId}/answer-cases'
type Proposal = OutputOf<'POST', typeof PATH>['proposals'][number]

/** The passages of one request, so that the first proposals are shown soon and the member can stop. */
const AT_ONCE = 2

type ProposeCasesProps = { agentId: string; onClose: () => void }

/** Lets a model write questions about the sources. The member chooses those that become cases. */
export function ProposeCases({ agentId, onClose }: ProposeCasesProps) {
  const [count, setCount] = useState(10)
  const proposing = useProposing(agentId)
  const { proposals, asked, isRunning } = proposing
  const [left, setLeft] = useState<ReadonlySet<Proposal>>(new Set())
  const chosen = proposals.filter((one) => !left.has(one))
  const add = useMutation({
    meta: { quiet: true },
    mutationFn: () =>
      call('POST', `${CASES}/import`, {
        params: { agentId },
        body: { format: 'json', content: JSON.stringify(chosen.map((one) => one.case)) },
      }),
    onSuccess: ({ added }) => {
      tell('done', `${plural(added.length, 'case')} added.`)
      void fetchAgain(CASES)
      onClose()
    },
  })
  const toggle = (one: Proposal) =>
    setLeft((now) => new Set(now.has(one) ? [...now].filter((other) => other !== one) : [...now, one]))
  return (
    <Dialog title="Cases from the sources" isOpen onClose={onClose} wide>
      <Form
        save={add}
        more={proposals.length}
        onSubmit={() => (asked === 0 ? proposing.start(count) : add.mutate())}
      >
        {asked === 0 && !isRunning && <Start agentId={agentId} count={count} onCount={setCount} />}
        {isRunning && <Bar share={asked / count} label="Passages that were asked about" />}
        {proposals.map((one) => (
          <Proposed key={one.passage.text} one={one} isChosen={!left.has(one)} onToggle={() => toggle(one)} />
        ))}
        {asked > 0 && (
          <p role="status" className={classes.faint}>
            {plural(proposals.length, 'question')} about {plural(asked, 'passage')}.
            {asked > proposals.length &&
              ` For ${formatNumber(asked - proposals.length)}, the model wrote nothing that the passage holds word for word.`}
          </p>
        )}
        {proposing.error && <FormProblem>{sentenceOf(proposing.error)}</FormProblem>}
        {isRunning ? (
          <Actions>
            <Button onClick={proposing.stop}>Stop</Button>
          </Actions>
        ) : asked === 0 ? (
          <FormActions save={add} kind="primary" label="Write questions" onCancel={onClose} />
        ) : (
          <FormActions
            save={add}
            kind="primary"
            disabled={chosen.length === 0}
            label={`Add ${plural(chosen.length, 'case')}`}
            onCancel={onClose}
          />
        )}
      </Form>
    </Dialog>
  )
}

type StartProps = { agentId: string; count: number; onCount: (count: number) => void }

function Start({ agentId, count, onCount }: StartProps) {
  const cost = useQuery(
    reading(PATH, { params: { agentId }, query: { count: Math.min(50, Math.max(1, count)) } }),
  )
  return (
    <>
      <TextField
        label="Passages to ask about"
        hint="They are taken from all sources in turn."
        type="number"
        min={1}
        max={50}
        required
        value={count || ''}
        onChange={({ target }) => onCount(Number(target.value))}
      />
      <Loaded of={cost} lines={1}>
        {({ model, passages, calls, tokens, dollars }) => (
          <p className={classes.faint}>
            {model === null
              ? 'There is no language model that could write them.'
              : passages === 0
                ? 'There is no passage yet: add a source first.'
                : `At most ${plural(calls, 'call')} of ${model}, about ${formatNumber(tokens)} tokens${
                    dollars === null ? '' : `, ${formatDollars(dollars)}`
                  }. Nothing is charged by Parley.`}
          </p>
        )}
      </Loaded>
    </>
  )
}

type ProposedProps = { one: Proposal; isChosen: boolean; onToggle: () => void }

const Proposed = ({ one, isChosen, onToggle }: ProposedProps) => (
  <div className={classes.conversation}>
    <Check label={<span dir="auto">{one.case.messages[0]}</span>} checked={isChosen} onChange={onToggle} />
    <p dir="auto">
      Holds: <strong>{one.case.expect.holds?.join(' · ')}</strong>
    </p>
    <details>
      <summary className={classes.faint}>{one.passage.sourceName ?? 'Untitled'}</summary>
      <p className={classes.passage} dir="auto">
        {one.passage.text}
      </p>
    </details>
  </div>
)

/** Asks for a few proposals at a time. */
function useProposing(agentId: string) {
  const [proposals, setProposals] = useState<Proposal[]>([])
  const [asked, setAsked] = useState(0)
  const [isRunning, setIsRunning] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const isStopped = useRef(false)
  useEffect(
    () => () => {
      isStopped.current = true
    },
    [],
  )
  async function start(count: number): Promise<void> {
    setIsRunning(true)
    setError(null)
    isStopped.current = false
    try {
      for (let from = 0; from < count && !isStopped.current; ) {
        const part = await call('POST', PATH, {
          params: { agentId },
          body: { from, count: Math.min(AT_ONCE, count - from) },
        })
        setProposals((now) => [...now, ...part.proposals])
        setAsked((now) => now + part.asked)
        if (part.next === null) break
        from = part.next
      }
    } catch (failure) {
      setError(failure as Error)
    } finally {
      setIsRunning(false)
    }
  }
  return {
    proposals,
    asked,
    isRunning,
    error,
    start: (count: number) => void start(count),
    stop: () => {
      isStopped.current = true
    },
  }
}
