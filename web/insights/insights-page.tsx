import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import agents from '../agents/agents.module.css'
import { daysAgo } from '../agents/days.ts'
import { call, type OutputOf, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { SavedSelect } from '../app/saved-select.tsx'
import { useAgentId, useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { sourceName } from '../conversations/source-names.ts'
import { MakeCase } from '../evaluations/make-case.tsx'
import { ProposeFix } from '../evaluations/propose-fix.tsx'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form, FormActions, TextArea } from '../ui/field.tsx'
import { formatNumber, formatShare } from '../ui/format.ts'
import { CircleCheck } from '../ui/icons.ts'
import { Badge, Page, Section } from '../ui/page.tsx'
import { Quoted } from '../ui/quoted.tsx'
import { Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import { DayChart } from './day-chart.tsx'
import classes from './insights.module.css'

const SPANS = [
  ['7', 'Last 7 days'],
  ['30', 'Last 30 days'],
  ['90', 'Last 90 days'],
] as const

const MOODS = { positive: 'Positive', neutral: 'Neutral', negative: 'Negative' } as const

/** Shows how well an agent does, and which questions it could not answer. */
export function InsightsPage() {
  const agentId = useAgentId()
  const navigate = useNavigate()
  const { days = '30' } = useSearch({ strict: false })
  const startDate = daysAgo(Number(days) - 1)
  const insights = useQuery({
    ...reading('/agents/{agentId}/insights', { params: { agentId }, query: { startDate } }),
    placeholderData: keepPreviousData,
  })
  const unanswered = useQuery(readingUnanswered(agentId))
  // Both appear together, because each would otherwise shift the other.
  const isPending = insights.isPending || unanswered.isPending
  return (
    <Page
      title="Insights"
      about="How well the agent performs, and what it could not answer."
      actions={
        <SavedSelect
          label="Span"
          hideLabel
          options={SPANS}
          value={days}
          onSave={(span) => navigate({ to: '.', search: { days: span }, replace: true })}
        />
      }
    >
      {!isPending && <Unanswered agentId={agentId} />}
      <Loaded of={isPending ? { ...insights, data: undefined, error: null } : insights} lines={8}>
        {({ totals, days: all }) => (
          <>
            <dl className={agents.grid}>
              <Figure label="Conversations" value={formatNumber(totals.conversations)} />
              <Figure label="Resolved without a person" value={formatShare(totals.deflection)} />
              <Figure label="Handed to people" value={formatNumber(totals.escalated)} />
              <Figure label="Rated good" value={ratedGood(totals.ratings)} />
            </dl>
            <Section title="Conversations by day">
              <DayChart days={all} />
            </Section>
            <div className={agents.columns}>
              <Share
                title="Topics"
                none="Topics appear when the first conversations have been analysed."
                rows={totals.topics.map(({ name, conversations }) => ({
                  name,
                  count: conversations,
                  search: { topic: name, startDate },
                }))}
                agentId={agentId}
              />
              <Share
                title="Channels"
                none="No conversation in this span."
                rows={totals.sources.map(({ source, conversations }) => ({
                  name: sourceName(source),
                  count: conversations,
                  search: { source, startDate },
                }))}
                agentId={agentId}
              />
              <Share
                title="Mood"
                none="Moods appear when the first conversations have been analysed."
                rows={(['positive', 'neutral', 'negative'] as const).map((sentiment) => ({
                  name: MOODS[sentiment],
                  count: totals.sentiments[sentiment],
                  search: { sentiment, startDate },
                }))}
                agentId={agentId}
              />
              <Outcomes outcomes={totals.outcomes} marked={totals.marked} />
              {totals.forbiddenTopics.length > 0 && <ForbiddenTopics topics={totals.forbiddenTopics} />}
            </div>
          </>
        )}
      </Loaded>
    </Page>
  )
}

const ratedGood = ({ positive, negative }: { positive: number; negative: number }): string =>
  positive + negative === 0 ? '–' : `${formatNumber(positive)} of ${formatNumber(positive + negative)}`

const Figure = ({ label, value }: { label: string; value: string }) => (
  <div className={agents.number}>
    <dt>{label}</dt>
    <dd>{value}</dd>
  </div>
)

const OUTCOMES = {
  answered: 'Answered',
  partly: 'Answered in part',
  notFound: 'Not found',
  handedOver: 'Handed over',
  refused: 'Refused',
  unreported: 'Not reported',
} as const

type Totals = OutputOf<'GET', '/agents/{agentId}/insights'>['totals']

/** Lists how answers ended, and how many have values to check. */
function Outcomes({ outcomes, marked }: Pick<Totals, 'outcomes' | 'marked'>) {
  const names = (Object.keys(OUTCOMES) as (keyof typeof OUTCOMES)[]).filter((name) => outcomes[name] > 0)
  return (
    <Section title="How answers ended">
      <ul className={agents.rows}>
        {names.length === 0 && <li className={agents.faint}>No answer in this span.</li>}
        {names.map((name) => (
          <li key={name}>
            {OUTCOMES[name]}
            <span className={classes.count}>{formatNumber(outcomes[name])}</span>
          </li>
        ))}
        {marked > 0 && (
          <li>
            With values to check
            <span className={classes.count}>{formatNumber(marked)}</span>
          </li>
        )}
      </ul>
    </Section>
  )
}

/** Lists how often customers asked about what the agent must not talk about. */
const ForbiddenTopics = ({ topics }: { topics: Totals['forbiddenTopics'] }) => (
  <Section title="Forbidden topics">
    <ul className={agents.rows}>
      {topics.map(({ topic, answers }) => (
        <li key={topic}>
          <span dir="auto">{topic}</span>
          <span className={classes.count}>{formatNumber(answers)}</span>
        </li>
      ))}
    </ul>
  </Section>
)

type ShareRow = { name: string; count: number; search: Record<string, string> }

/** Lists counts, each of which links to its conversations. */
function Share({
  title,
  none,
  rows,
  agentId,
}: {
  title: string
  none: string
  rows: ShareRow[]
  agentId: string
}) {
  const shown = rows.filter(({ count }) => count > 0)
  return (
    <Section title={title}>
      <ul className={agents.rows}>
        {shown.length === 0 && <li className={agents.faint}>{none}</li>}
        {shown.slice(0, 10).map(({ name, count, search }) => (
          <li key={name}>
            <Link to="/agents/$agentId/conversations" params={{ agentId }} search={search}>
              {name}
            </Link>
            <span className={classes.count}>{formatNumber(count)}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

type Group = OutputOf<'GET', '/agents/{agentId}/insights/unanswered'>['data'][number]
const PATH = '/agents/{agentId}/insights/unanswered'

const readingUnanswered = (agentId: string) =>
  reading(PATH, { params: { agentId }, query: { status: 'open', limit: 20 } })

function Unanswered({ agentId }: { agentId: string }) {
  const can = useCan()
  const [open, setOpen] = useState<Group | null>(null)
  const groups = useQuery(readingUnanswered(agentId))
  const refresh = () => fetchAgain(PATH)
  const dismiss = useMutation({
    mutationFn: (group: Group) =>
      call('PATCH', `${PATH}/{groupId}`, {
        params: { agentId, groupId: group.id },
        body: { status: 'dismissed' },
      }),
    onSuccess: (_done, group) =>
      tell('done', 'Dismissed.', {
        label: 'Undo',
        run: () => void reopen(agentId, group.id).finally(refresh),
      }),
    onSettled: refresh,
  })
  const mayWrite = can('sources:write')
  return (
    <Section title="Unanswered questions" about="Answer one, and the agent knows it from then on.">
      <Loaded of={groups}>
        {({ data }) =>
          data.length === 0 ? (
            <ul className={agents.rows}>
              <li>
                <span className={agents.health}>
                  <CircleCheck size={18} className={agents.ok} aria-hidden />
                  None: the agent found something for every question.
                </span>
              </li>
            </ul>
          ) : (
            <ul className={agents.rows}>
              {data.map((group) => (
                <li key={group.id}>
                  <div className={classes.question}>
                    <span dir="auto">{group.question}</span>
                    <small>
                      <Badge>{group.count}×</Badge> asked last <Ago at={group.lastAskedAt} />
                      {group.examples[0] && (
                        <>
                          {' · '}
                          <Link
                            to="/agents/$agentId/conversations"
                            params={{ agentId }}
                            search={{ open: group.examples[0].conversationId }}
                          >
                            See the conversation
                          </Link>
                        </>
                      )}
                    </small>
                    {isStillNotFound(group) && (
                      <small>
                        Asked again <Ago at={group.askedAgainAt} />:{' '}
                        {group.sourceId ? 'the answer of your team was not found.' : 'still not found.'}
                      </small>
                    )}
                  </div>
                  {mayWrite && (
                    <div className={classes.buttons}>
                      {group.examples[0] && <MakeCase agentId={agentId} {...group.examples[0]} />}
                      <ProposeFix
                        agentId={agentId}
                        question={group.question}
                        right={group.suggestedAnswer ?? ''}
                      />
                      <Button small onClick={() => setOpen(group)}>
                        Answer
                      </Button>
                      <Button small kind="quiet" onClick={() => dismiss.mutate(group)}>
                        Dismiss
                      </Button>
                    </div>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {open && <AnswerDialog agentId={agentId} group={open} onClose={() => setOpen(null)} onDone={refresh} />}
    </Section>
  )
}

/** Returns whether the agent has learned something since the question was asked last, and still finds no answer. */
const isStillNotFound = (group: Group): group is Group & { askedAgainAt: string } =>
  group.askedAgainAt !== null && group.askedAgainAt > group.lastAskedAt

const reopen = (agentId: string, groupId: string) =>
  call('PATCH', `${PATH}/{groupId}`, { params: { agentId, groupId }, body: { status: 'open' } })

type AnswerDialogProps = { agentId: string; group: Group; onClose: () => void; onDone: () => void }

function AnswerDialog({ agentId, group, onClose, onDone }: AnswerDialogProps) {
  const [answer, setAnswer] = useState('')
  const send = useMutation({
    meta: { quiet: true },
    mutationFn: () =>
      call('POST', `${PATH}/{groupId}/answer`, { params: { agentId, groupId: group.id }, body: { answer } }),
    onSuccess: () => {
      tell('done', 'It will say this from now on.')
      onDone()
      onClose()
    },
  })
  return (
    <Dialog title={group.question} isOpen onClose={onClose} wide>
      <Form save={send} onSubmit={() => send.mutate()}>
        <TextArea
          label="Answer"
          rows={8}
          value={answer}
          onChange={({ target }) => setAnswer(target.value)}
          placeholder="What the agent should say to everybody who asks this"
          hint="It becomes a source of questions and answers."
          required
          autoFocus
        />
        {group.suggestedAnswer && (
          <Quoted label="What a colleague wrote to one visitor" text={group.suggestedAnswer} />
        )}
        <FormActions save={send} kind="primary" label="Save the answer" />
      </Form>
    </Dialog>
  )
}
