import { useState } from 'react'
import { call } from '../app/api.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Form, FormProblem, Select, TextArea, TextField } from '../ui/field.tsx'
import { formatNumber } from '../ui/format.ts'
import { FlaskConical } from '../ui/icons.ts'
import { Badge, Card, Section } from '../ui/page.tsx'
import { sentenceOf } from '../ui/state.tsx'
import classes from './actions.module.css'
import { inputValueOf, rowsOf } from './inputs.ts'
import type { Action } from './words.ts'

const ABOUT: Record<Action['type'], string> = {
  http: 'The request is sent as it would be for a customer.',
  client: 'Your application runs it; here only the input is checked.',
  'collect-leads': 'The input is checked, and no lead is stored.',
  escalate: 'The input is checked, and no ticket is opened.',
  'web-search': 'The search is made.',
}

/** Runs the saved action with inputs that are typed in. */
export function TestAction({ agentId, action }: { agentId: string; action: Action }) {
  const [problem, setProblem] = useState<string | null>(null)
  const rows = rowsOf(action.inputs)
  const test = useMutation({
    meta: { quiet: true },
    mutationFn: (input: Record<string, unknown>) =>
      call('POST', '/agents/{agentId}/actions/{actionId}/test', {
        params: { agentId, actionId: action.id },
        body: { input },
      }),
  })
  const submit = (fields: FormData): void => {
    const textOf = (name: string): string => String(fields.get(name) ?? '')
    setProblem(null)
    if (rows) {
      const given = rows.filter(({ name }) => textOf(name) !== '')
      test.mutate(Object.fromEntries(given.map(({ name, type }) => [name, inputValueOf(type, textOf(name))])))
      return
    }
    try {
      test.mutate(JSON.parse(textOf('json') || '{}'))
    } catch {
      setProblem('The input is not valid JSON.')
    }
  }
  return (
    <Section title="Try it" about={`${ABOUT[action.type]} What was changed above counts once it is saved.`}>
      <Card>
        <Form onSubmit={submit}>
          {rows ? (
            rows.map(({ name, type, description, required }) =>
              type === 'boolean' ? (
                <Select
                  key={name}
                  label={name}
                  name={name}
                  hint={description}
                  options={[
                    ['', 'Not said'],
                    ['true', 'Yes'],
                    ['false', 'No'],
                  ]}
                />
              ) : (
                <TextField
                  key={name}
                  label={required ? name : `${name} (optional)`}
                  name={name}
                  hint={description}
                />
              ),
            )
          ) : (
            <TextArea label="Input (JSON)" name="json" rows={6} className={classes.mono} defaultValue="{}" />
          )}
          {(problem || test.error) && <FormProblem>{problem ?? sentenceOf(test.error)}</FormProblem>}
          <div>
            <Button type="submit" icon={FlaskConical} pending={test.isPending}>
              Try it
            </Button>
          </div>
          <div aria-live="polite" className={classes.stack}>
            {test.data && <Outcome {...test.data.data} />}
          </div>
        </Form>
      </Card>
    </Section>
  )
}

function Outcome({ hasRun, output, ms }: { hasRun: boolean; output: unknown; ms: number }) {
  const isGood =
    typeof output === 'object' && output !== null && 'status' in output && output.status === 'success'
  return (
    <>
      <p>
        <Badge tone={isGood ? 'success' : 'danger'}>{isGood ? 'It works' : 'It failed'}</Badge>{' '}
        <span className={classes.faint}>
          {hasRun ? `${formatNumber(ms)} ms. The model would read:` : 'It was not run. The model would read:'}
        </span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <section className={classes.output} aria-label="Output" tabIndex={0}>
        {JSON.stringify(output, null, 2)}
      </section>
    </>
  )
}
