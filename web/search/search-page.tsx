import { useQuery } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { call, type InputOf, type OutputOf, reading } from '../app/api.ts'
import { useAgentId } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import sources from '../sources/sources.module.css'
import { Button } from '../ui/button.tsx'
import { Form, FormProblem, Select, TextField } from '../ui/field.tsx'
import { formatShare } from '../ui/format.ts'
import { Badge, Bar, Card, Page } from '../ui/page.tsx'
import { Empty, sentenceOf } from '../ui/state.tsx'
import classes from './search.module.css'

const PATH = '/agents/{agentId}/retrieval-test'
type Question = InputOf<'POST', typeof PATH>['body']
type Found = OutputOf<'POST', typeof PATH>
const SIGNALS = [
  ['words', 'Words'],
  ['spelling', 'Spelling'],
  ['heading', 'Heading'],
  ['meaning', 'Meaning'],
  ['sentence', 'Closest sentence'],
  ['vectors', 'Embedding'],
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
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const question = String(new FormData(event.currentTarget).get('question')).trim()
    test.mutate({ question, ...(expected && { expectedSourceId: expected }) })
  }
  return (
    <Page title="Search test" about="What a question finds, and why. It costs nothing." narrow>
      <Card>
        <Form onSubmit={submit}>
          <TextField label="Question" name="question" required maxLength={10_000} autoFocus />
          <Select
            label="Should be answered from (optional)"
            options={[
              ['', 'Any source'],
              ...(list.data?.data ?? []).map(({ id, name }) => [id, name ?? 'Untitled'] as const),
            ]}
            value={expected}
            onChange={({ target }) => setExpected(target.value)}
          />
          {test.error && <FormProblem>{sentenceOf(test.error)}</FormProblem>}
          <div>
            <Button kind="primary" type="submit" icon={Search} pending={test.isPending}>
              Search
            </Button>
          </div>
        </Form>
      </Card>
      {test.data && <Passages found={test.data} />}
    </Page>
  )
}

function Passages({ found: { passages, missing, confidence, reranked } }: { found: Found }) {
  return (
    <section className={sources.chunks} aria-label="What was found" aria-live="polite">
      {missing && <p className={classes.missing}>{missing.sentence}</p>}
      {passages.length === 0 ? (
        <Empty icon={Search} title="Nothing was found for this question">
          Add a source that says it, or ask in its words.
        </Empty>
      ) : (
        <p className={sources.faint}>
          {formatShare(confidence)} likely that the first one holds the answer
          {reranked && '; put in order by the reranker'}.
        </p>
      )}
      {passages.map((passage) => (
        <article key={passage.chunkId} className={sources.chunk} aria-label={`Passage ${passage.place}`}>
          <header>
            <strong>
              {passage.place}. {passage.sourceName ?? 'Untitled'}
            </strong>
            {passage.headingPath.length > 0 && <span>{passage.headingPath.join(' › ')}</span>}
            {passage.page !== null && <span>page {passage.page}</span>}
            <Badge tone={passage.isOffered ? 'success' : 'neutral'}>
              {passage.isOffered ? 'answered from' : 'too unlikely'}, {formatShare(passage.score)}
            </Badge>
          </header>
          <p dir="auto">{passage.text}</p>
          <dl className={classes.signals}>
            {SIGNALS.map(([name, label]) => {
              const share = passage.signals[name]
              if (share === null) return null
              return (
                <div key={name}>
                  <dt>{label}</dt>
                  <dd>
                    <Bar share={share} label={`${label}: ${formatShare(share)}`} />
                  </dd>
                </div>
              )
            })}
          </dl>
        </article>
      ))}
    </section>
  )
}
