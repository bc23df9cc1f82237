import { useState } from 'react'
import { call, type OutputOf } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Actions, TextArea } from '../ui/field.tsx'
import { ThumbsDown, ThumbsUp } from '../ui/icons.ts'
import { Badge } from '../ui/page.tsx'
import classes from './evaluations.module.css'

const RUN = '/agents/{agentId}/answer-runs/{answerRunId}'
export type Result = OutputOf<'GET', typeof RUN>['results'][number]
type Check = Result['checks'][number]

const CHECKS: Record<Check['kind'], string> = {
  holds: 'holds',
  lacks: 'does not hold',
  cites: 'cites',
  calls: 'calls',
  declines: 'says that it does not know',
  handsOver: 'passes to a person',
  reachesGoal: 'gives the customer what they want',
  faithful: 'rests on what the agent was given',
  means: 'says',
  sounds: 'sounds',
}
const JUDGED: readonly string[] = ['faithful', 'means', 'sounds']
const VERDICTS = {
  supported: ['success', 'supported'],
  contradicted: ['danger', 'contradicted'],
  absent: ['danger', 'not in what it was given'],
  unclear: ['warning', 'not known'],
} as const
const PIECES = {
  passage: 'Passage',
  result: 'Result of an action',
  customer: 'The customer',
  instructions: 'Instructions',
} as const

type Where = { agentId: string; runId: string; result: Result; mayWrite: boolean }

/** Lists what was checked in an answer and what the judge says of its claims, and lets people agree or not. */
export function Judgements({ of }: { of: Where }) {
  const { checks, judgement } = of.result
  return (
    <>
      <ul className={classes.checks}>
        {checks.map(({ kind, expected, passed, reason }) => (
          <li key={`${kind} ${expected}`}>
            <Badge tone={passed === null ? 'warning' : passed ? 'success' : 'danger'}>
              {passed === null ? 'not known' : passed ? 'yes' : 'no'}
            </Badge>{' '}
            {CHECKS[kind]}: <span dir="auto">{shown(kind, expected, of.result)}</span>
            {reason !== null && <span className={classes.faint}> {reason}</span>}
            {JUDGED.includes(kind) && passed !== null && (
              <Review of={of} judgement={kind} what={CHECKS[kind]} />
            )}
          </li>
        ))}
      </ul>
      {judgement?.problem && (
        <p className={classes.worse}>
          {judgement.model} judged nothing: {judgement.problem}
        </p>
      )}
      {judgement && judgement.claims.length > 0 && (
        <>
          <p className={classes.faint}>What it claims, judged by {judgement.model}:</p>
          <ol className={classes.checks}>
            {judgement.claims.map(({ claim, verdict, piece, reason }, at) => {
              const [tone, words] = VERDICTS[verdict]
              return (
                // biome-ignore lint/suspicious/noArrayIndexKey: claims keep their order
                <li key={at}>
                  <Badge tone={tone}>{words}</Badge> <span dir="auto">{claim}</span>{' '}
                  <span className={classes.faint}>{reason}</span>
                  {piece && (
                    <blockquote className={classes.piece} dir="auto">
                      <cite>
                        {PIECES[piece.kind]}
                        {piece.name && `: ${piece.name}`}
                      </cite>
                      {piece.text}
                    </blockquote>
                  )}
                  <Review of={of} judgement={`claim-${at + 1}`} what={claim} />
                </li>
              )
            })}
          </ol>
        </>
      )}
    </>
  )
}

function shown(kind: Check['kind'], expected: string | boolean, { sources }: Result): string {
  if (typeof expected === 'boolean') return expected ? 'yes' : 'no'
  if (kind !== 'cites') return expected
  return sources.find(({ id }) => id === expected)?.name ?? 'a source that it does not cite'
}

type ReviewProps = { of: Where; judgement: string; what: string }

/** Shows who agrees with a judgement, and why not, and lets the reader say so. */
export function Review({ of: { agentId, runId, result, mayWrite }, judgement, what }: ReviewProps) {
  const [writing, setWriting] = useState(false)
  const [note, setNote] = useState('')
  const said = result.reviews.find((one) => one.judgement === judgement)
  const save = useMutation({
    mutationFn: (agrees: boolean | null) =>
      call('POST', `${RUN}/reviews`, {
        params: { agentId, answerRunId: runId },
        body: {
          caseId: result.caseId,
          repetition: result.repetition,
          judgement,
          agrees,
          note: agrees === false ? note : '',
        },
      }),
    onSuccess: () => {
      setWriting(false)
      return fetchAgain(RUN, '/agents/{agentId}/answer-judges')
    },
  })
  const disagree = () => {
    setNote(said?.note ?? '')
    setWriting(true)
  }
  return (
    <div className={classes.review}>
      {mayWrite && (
        <>
          <IconButton
            icon={ThumbsUp}
            label={`Agree: ${what}`}
            aria-pressed={said?.agrees === true}
            onClick={() => save.mutate(said?.agrees === true ? null : true)}
          />
          <IconButton
            icon={ThumbsDown}
            label={`Disagree: ${what}`}
            aria-pressed={said?.agrees === false}
            onClick={() => (said?.agrees === false ? save.mutate(null) : disagree())}
          />
        </>
      )}
      {said && (
        <span className={classes.faint} dir="auto">
          {said.reviewer} {said.agrees ? 'agrees' : 'disagrees'}
          {said.note && `: ${said.note}`}
        </span>
      )}
      {writing && (
        <form
          className={classes.because}
          onSubmit={(event) => {
            event.preventDefault()
            save.mutate(false)
          }}
        >
          <TextArea
            label="This was wrong because"
            rows={2}
            maxLength={2_000}
            value={note}
            onChange={({ target }) => setNote(target.value)}
          />
          <Actions>
            <Button kind="primary" small type="submit" pending={save.isPending}>
              Save
            </Button>
            <Button kind="quiet" small onClick={() => setWriting(false)}>
              Cancel
            </Button>
          </Actions>
        </form>
      )}
    </div>
  )
}
