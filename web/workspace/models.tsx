import { useQuery } from '@tanstack/react-query'
import agents from '../agents/agents.module.css'
import { call, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { formatNumber } from '../ui/format.ts'
import { CircleAlert, CircleCheck } from '../ui/icons.ts'
import { Badge, Section, Table } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { LocalModel } from './local-model.tsx'
import classes from './workspace.module.css'

export function Models() {
  const can = useCan()
  const models = useQuery(reading('/models'))
  const test = useMutation({
    mutationFn: () => call('POST', '/models/test'),
    // A model that answers again has no problem any more.
    onSettled: () => fetchAgain('/models'),
  })
  return (
    <Section
      title="Models"
      about="What this installation is configured with."
      actions={
        can('agents:write') && (
          <Button pending={test.isPending} onClick={() => test.mutate()}>
            Test all
          </Button>
        )
      }
    >
      <Loaded of={models}>
        {(data) => (
          <div className={classes.stack}>
            <Table stacked label="Models" head={['Model', 'Provider', 'Credits per reply', 'Context window']}>
              {data.models.map(({ id, provider, credits, contextTokens, isAuto, isInPlan, problem }) => (
                <tr key={id}>
                  <td>
                    <strong className={classes.strong}>{id}</strong>{' '}
                    {isAuto && <Badge tone="accent">auto</Badge>}{' '}
                    {!isInPlan && <Badge>not in the plan</Badge>}
                    {problem && <p role="alert">{problem}</p>}
                  </td>
                  <td>{provider}</td>
                  <td>{formatNumber(credits)}</td>
                  <td>{formatNumber(contextTokens)} tokens</td>
                </tr>
              ))}
            </Table>
            <p className={classes.faint}>
              Embeddings: {data.embedding ?? 'none, so documents are searched by words alone'}. Reranker:{' '}
              {data.reranker ?? 'none'}.
            </p>
            {data.embeddingProblem && <p role="alert">{data.embeddingProblem}</p>}
            <LocalModel />
            {test.data && (
              <ul className={agents.rows} aria-label="Findings" aria-live="polite">
                {test.data.findings.map(({ what, name, ok, sentence }) => (
                  <li key={`${what} ${name}`}>
                    <span className={agents.health}>
                      {ok ? (
                        <CircleCheck size={18} className={agents.ok} aria-label="Works" />
                      ) : (
                        <CircleAlert size={18} className={agents.todo} aria-label="Does not work" />
                      )}
                      {sentence}
                    </span>
                  </li>
                ))}
              </ul>
            )}
          </div>
        )}
      </Loaded>
    </Section>
  )
}
