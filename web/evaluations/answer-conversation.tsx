import { useState } from 'react'
import { call, type OutputOf } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Actions } from '../ui/field.tsx'
import { formatDollars, formatNumber, plural } from '../ui/format.ts'
import { RotateCcw } from '../ui/icons.ts'
import { Badge } from '../ui/page.tsx'
import { Judgements, type Result, Review } from './answer-judgement.tsx'
import classes from './evaluations.module.css'
import { ProposeFix } from './propose-fix.tsx'

const RUN = '/agents/{agentId}/answer-runs/{answerRunId}'
export type Run = OutputOf<'GET', typeof RUN>

type ConversationProps = {
  of: { agentId: string; runId: string; result: Result; mayWrite: boolean }
  isOpen: boolean
  /** Called with the new run when the case is asked again. */
  onAgain?: (runId: string) => void
  /** How often it would be asked. */
  repeats?: number
}

/** Shows one conversation of a test: what was said, what was checked and judged, and what it took. */
export function Conversation({ of, isOpen, onAgain, repeats = 1 }: ConversationProps) {
  const { result } = of
  const { passed } = result
  return (
    <details className={classes.conversation} open={isOpen}>
      <summary>
        <Badge tone={passed === null ? 'warning' : passed ? 'success' : 'danger'}>
          {passed === null ? 'not decided' : passed ? 'passed' : 'failed'}
        </Badge>{' '}
        <span dir="auto">{result.name}</span>
        {result.repetition > 1 && <span className={classes.faint}> time {result.repetition}</span>}
      </summary>
      <dl className={classes.talk}>
        {result.messages.map(({ role, text }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages keep their order
          <div key={at}>
            <dt>{role === 'user' ? 'Customer' : 'Agent'}</dt>
            <dd dir="auto">{text || 'no words'}</dd>
          </div>
        ))}
      </dl>
      {result.error !== null && <p className={classes.worse}>{result.error}</p>}
      <Judgements of={of} />
      {passed === false && result.error === null && <FixResult agentId={of.agentId} result={result} />}
      <p className={classes.faint}>{figuresOf(result)}</p>
      <Review of={of} judgement="answer" what={`the result of ${result.name}`} />
      {onAgain && of.mayWrite && <Again of={of} repeats={repeats} onStarted={onAgain} />}
    </details>
  )
}

const figuresOf = (result: Result): string =>
  [
    result.model,
    result.sources.length > 0 && `cites ${result.sources.map(({ name }) => name ?? 'Untitled').join(', ')}`,
    result.calls.length > 0 && `called ${result.calls.map(({ name }) => name).join(', ')}`,
    result.ending && ENDINGS[result.ending],
    result.firstMs !== null && `first word after ${formatNumber(result.firstMs)} ms`,
    `${formatNumber(result.ms)} ms`,
    result.inputTokens !== null && `${formatNumber(result.inputTokens)} tokens read`,
    result.outputTokens !== null && `${formatNumber(result.outputTokens)} written`,
    result.dollars !== null && formatDollars(result.dollars),
  ]
    .filter(Boolean)
    .join(' · ')

type AgainProps = { of: ConversationProps['of']; repeats: number; onStarted: (runId: string) => void }

/** Asks one case again, as it was and with the same settings, after its cost was confirmed. */
function Again({ of: { agentId, runId, result }, repeats, onStarted }: AgainProps) {
  const [asking, setAsking] = useState(false)
  const again = useMutation({
    mutationFn: () =>
      call('POST', `${RUN}/repeat`, {
        params: { agentId, answerRunId: runId },
        body: { caseIds: [result.caseId] },
      }),
    onSuccess: (run) => {
      setAsking(false)
      void fetchAgain('/agents/{agentId}/answer-runs')
      onStarted(run.id)
    },
  })
  const credits = formatNumber(result.credits * repeats)
  return (
    <>
      <Button small icon={RotateCcw} onClick={() => setAsking(true)}>
        Ask it again
      </Button>
      {asking && (
        <Dialog title="Ask this case again?" isOpen onClose={() => setAsking(false)}>
          <p>
            It is asked {plural(repeats, 'time')} as it was, with the settings of this test: about {credits}{' '}
            credits’ worth, not charged
            {result.dollars === null ? '.' : `, and ${formatDollars(result.dollars * repeats)}.`}
          </p>
          <Actions>
            <Button kind="primary" pending={again.isPending} onClick={() => again.mutate()}>
              Ask it again
            </Button>
            <Button kind="quiet" onClick={() => setAsking(false)}>
              Cancel
            </Button>
          </Actions>
        </Dialog>
      )}
    </>
  )
}

const ENDINGS = {
  content: 'the customer was content',
  gone: 'the customer gave up',
  limit: 'stopped at the most messages',
}

/** What is asked for is the last question, and the answers to it that the case does not accept. */
function FixResult({ agentId, result }: { agentId: string; result: Result }) {
  const said = (role: 'user' | 'assistant') =>
    result.messages.findLast((one) => one.role === role)?.text ?? ''
  const expected = result.checks.filter(({ kind }) => kind === 'means' || kind === 'holds')
  if (said('user') === '') return null
  return (
    <ProposeFix
      agentId={agentId}
      question={said('user')}
      answer={said('assistant')}
      right={expected.map((check) => String(check.expected)).join('\n')}
    />
  )
}
