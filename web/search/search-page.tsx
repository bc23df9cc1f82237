import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type InputOf, type OutputOf, reading } from '../app/api.ts'
import { useAgentId } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { type Chosen, PassageChoice } from '../sources/passage-choice.tsx'
import sources from '../sources/sources.module.css'
import { Button } from '../ui/button.tsx'
import { Form, FormProblem, Select, TextField } from '../ui/field.tsx'
import { formatShare } from '../ui/format.ts'
import { Search } from '../ui/icons.ts'
import { Badge, Card, Page } from '../ui/page.tsx'
import { Empty, sentenceOf } from '../ui/state.tsx'
import classes from './search.module.css'

const PATH = '/agents/{agentId}/retrieval-test'
type Question = InputOf<'POST', typeof PATH>['body']
type SearchResult = OutputOf<'POST', typeof PATH>
const SIGNALS = [
  ['words', 'By words'],
  ['vectors', 'By meaning'],
] as const

/** The search test: shows which passages a question finds, their scores, and why an expected source is missing. */
export function SearchPage() {
  const agentId = useAgentId()
  const [expected, setExpected] = useState('')
  const list = useQuery(reading('/agents/{agentId}/sources', { params: { agentId }, query: { limit: 100 } }))
  const test = useMutation({
    meta: { quiet: true },
    mutationFn: (body: Question) => call('POST', PATH, { params: { agentId }, body }),
  })
  const submit = (fields: FormData): void => {
    const question = String(fields.get('question')).trim()
    test.mutate({ question, ...(expected && { expectedSourceId: expected }) })
  }
  return (
    <Page title="Search test" about="What a question finds, and why. It costs nothing." narrow>
      <Card>
        <Form onSubmit={submit}>
          <TextField label="Question" name="question" required maxLength={10_000} autoFocus />
          <Select
            label="Expected source (optional)"
            options={[
              ['', 'Any source'],
              ...(list.data?.data ?? []).map(({ id, name }) => [id, name ?? 'Untitled'] as const),
            ]}
            value={expected}
            onChoose={setExpected}
          />
          {test.error && <FormProblem>{sentenceOf(test.error)}</FormProblem>}
          <div>
            <Button kind="primary" type="submit" icon={Search} pending={test.isPending}>
              Search
            </Button>
          </div>
        </Form>
      </Card>
      {test.data && <Passages key={test.submittedAt} found={test.data} question={test.variables.question} />}
    </Page>
  )
}

function Passages({
  found: { passages, missing, confidence, isFound, isIndexing, reranked, vectorProblem },
  question,
}: {
  found: SearchResult
  question: string
}) {
  const agentId = useAgentId()
  /** What was chosen since the search, by the passages' ids. */
  const [chosen, setChosen] = useState<Record<string, Chosen>>({})
  // Without an embedding model, nothing has a place by its meaning.
  const signals = SIGNALS.filter(([name]) => passages.some((passage) => passage.signals[name] !== null))
  return (
    <section className={sources.chunks} aria-label="What was found" aria-live="polite">
      {isIndexing && (
        <p className={classes.missing}>
          Texts of this agent are still being indexed, so some are not found yet.
        </p>
      )}
      {vectorProblem && <p className={classes.missing}>{vectorProblem}</p>}
      {missing && <p className={classes.missing}>{missing.sentence}</p>}
      {passages.length === 0 ? (
        <Empty icon={Search} title="Nothing was found for this question">
          Add a source that says it, or ask in its words.
        </Empty>
      ) : (
        <p className={sources.faint}>
          The best passages hold {formatShare(confidence)} of the question, by the rarity of its words:{' '}
          {isFound ? 'enough to answer from' : 'too little to answer from'}
          {reranked && '; put in order by the reranker'}.
        </p>
      )}
      {passages.map((passage) => (
        <article
          key={passage.chunkId}
          className={`${sources.chunk} ${chosen[passage.chunkId]?.excluded ? sources.excluded : ''}`}
          aria-label={`Passage ${passage.place}`}
        >
          <header>
            <strong>
              {passage.place}. {passage.sourceName ?? 'Untitled'}
            </strong>
            {passage.headingPath.length > 0 && <span>{passage.headingPath.join(' › ')}</span>}
            {passage.page !== null && <span>page {passage.page}</span>}
            {passage.isFirst && <Badge tone="info">Stored or pinned for this question</Badge>}
          </header>
          <p dir="auto">{passage.text}</p>
          <dl className={classes.signals}>
            {signals.map(([name, label]) => (
              <div key={name}>
                <dt>{label}</dt>
                <dd>{passage.signals[name] === null ? 'not found' : `place ${passage.signals[name]}`}</dd>
              </div>
            ))}
          </dl>
          <PassageChoice
            params={{ agentId, sourceId: passage.sourceId, chunkId: passage.chunkId }}
            chosen={chosen[passage.chunkId] ?? { excluded: false, pinnedFor: passage.pinnedFor }}
            question={question}
            onChange={(now) => setChosen((before) => ({ ...before, [passage.chunkId]: now }))}
          />
        </article>
      ))}
    </section>
  )
}
