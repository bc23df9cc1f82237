import { useState } from 'react'
import { call } from '../app/api.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Form, FormActions, TextField } from '../ui/field.tsx'
import { Badge, Card, Section } from '../ui/page.tsx'
import { Code } from './code.tsx'
import classes from './deploy.module.css'

const NAMES = { spf: 'SPF', dkim: 'DKIM', dmarc: 'DMARC' }
const RESULTS = {
  ok: ['success', 'In order'],
  missing: ['danger', 'Missing'],
  problem: ['danger', 'Problem'],
  unknown: ['neutral', 'Unknown'],
} as const

/** Checks the records by which other servers judge emails from the domain. */
export function MailDomain({ agentId }: { agentId: string }) {
  const [selector, setSelector] = useState('')
  const check = useMutation({
    meta: { quiet: true },
    mutationFn: () =>
      call('GET', '/agents/{agentId}/email/connection/domain', {
        params: { agentId },
        query: { selector: selector.trim() || undefined },
      }),
  })
  const submit = (): void => check.mutate()
  return (
    <Section title="Domain" about="Other servers look at these records to tell your emails from forged ones.">
      <Card>
        <Form save={check} onSubmit={submit}>
          <TextField
            label="DKIM selector"
            value={selector}
            onChange={({ target }) => setSelector(target.value)}
            placeholder="s1"
            autoCapitalize="none"
            spellCheck={false}
            hint="The value of s= in the header DKIM-Signature of an email that you have sent."
          />
          <FormActions save={check} label="Check the domain" />
        </Form>
        <div role="status">
          {check.data && (
            <ul className={classes.findings}>
              {check.data.findings.map(({ check: name, result, name: place, found, advice, suggestion }) => (
                <li key={name}>
                  <p>
                    <strong>{NAMES[name]}</strong>{' '}
                    <Badge tone={RESULTS[result][0]}>{RESULTS[result][1]}</Badge> <bdi>{place}</bdi>
                  </p>
                  {advice && <p>{advice}</p>}
                  {found && <Code label={`${NAMES[name]} record`} text={found} />}
                  {suggestion && <Code label={`${NAMES[name]} record to enter`} text={suggestion} />}
                </li>
              ))}
            </ul>
          )}
        </div>
      </Card>
    </Section>
  )
}
