import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { type Agent, call, type InputOf, reading } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { useAgent, useAgentId, useCan } from '../app/session.ts'
import { Button } from '../ui/button.tsx'
import { Form, FormActions, FormProblem, Select, TextArea, TextField } from '../ui/field.tsx'
import { Card, Page, Section } from '../ui/page.tsx'
import { Loaded, sentenceOf } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'

type Change = InputOf<'PUT', '/agents/{agentId}'>['body']

export function SettingsPage() {
  const agentId = useAgentId()
  const can = useCan()
  const agent = useAgent(agentId)
  return (
    <Page title="Settings" narrow>
      <Loaded of={agent}>
        {(data) => (
          <>
            <General key={data.id} agent={data} />
            <Section title="How long conversations are kept">
              <Card>
                <Retention agentId={agentId} />
              </Card>
            </Section>
            {can('agents:write') && <Delete agent={data} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}

const lines = (text: FormDataEntryValue | null): string[] =>
  String(text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

function General({ agent }: { agent: Agent }) {
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: (body: Change) => call('PUT', '/agents/{agentId}', { params: { agentId: agent.id }, body }),
    onSuccess: () => {
      tell('done', 'Saved.')
      void queries.invalidateQueries({ queryKey: ['/agents'] })
      return queries.invalidateQueries({ queryKey: ['/agents/{agentId}'] })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const limit = String(form.get('creditLimit'))
    const suggested = lines(form.get('suggested'))
    save.mutate({
      name: String(form.get('name')).trim(),
      visibility: form.get('visibility') as 'public' | 'private',
      initialMessages: lines(form.get('initial')),
      suggestedMessages:
        suggested.length > 0 ? suggested.map((text, order) => ({ type: 'single', text, order })) : null,
      creditLimit: limit === '' ? null : Number(limit),
      ipRateLimits: {
        limit: Number(form.get('rate')),
        timeframe: Number(form.get('seconds')),
      },
    })
  }
  const suggested = (agent.suggestedMessages ?? []).flatMap((one) =>
    one.type === 'single' ? [String(one.text)] : [],
  )
  return (
    <Section title="General">
      <Card>
        <Form onSubmit={submit}>
          <TextField label="Name" name="name" defaultValue={agent.name} required maxLength={100} />
          <Select
            label="Who can chat with it"
            name="visibility"
            defaultValue={agent.visibility}
            options={[
              ['private', 'Only this workspace and its keys'],
              ['public', 'Anyone who visits your website'],
            ]}
          />
          <TextArea
            label="Greeting"
            name="initial"
            rows={2}
            defaultValue={agent.initialMessages.join('\n')}
            hint="What it says first, one message per line."
          />
          <TextArea
            label="Suggested questions"
            name="suggested"
            rows={3}
            defaultValue={suggested.join('\n')}
            hint="One per line. Visitors can press them instead of typing."
          />
          <TextField
            label="Monthly credit limit"
            name="creditLimit"
            type="number"
            min={0}
            defaultValue={agent.creditLimit ?? ''}
            hint="Leave it empty to use all that the plan has."
          />
          <TextField
            label="Messages a visitor may send"
            name="rate"
            type="number"
            min={1}
            defaultValue={agent.ipRateLimits.limit}
            required
          />
          <TextField
            label="Within how many seconds"
            name="seconds"
            type="number"
            min={1}
            defaultValue={agent.ipRateLimits.timeframe}
            required
          />
          {save.error && <FormProblem>{sentenceOf(save.error)}</FormProblem>}
          <FormActions>
            <Button kind="primary" type="submit" pending={save.isPending}>
              Save
            </Button>
          </FormActions>
        </Form>
      </Card>
    </Section>
  )
}

function Retention({ agentId }: { agentId: string }) {
  const params = { agentId }
  const can = useCan()
  const retention = useQuery(reading('/agents/{agentId}/retention', { params }))
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: (retentionDays: number | null) =>
      call('PUT', '/agents/{agentId}/retention', { params, body: { retentionDays } }),
    onSuccess: () => {
      tell('done', 'Saved.')
      return queries.invalidateQueries({ queryKey: ['/agents/{agentId}/retention'] })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const days = String(new FormData(event.currentTarget).get('days'))
    save.mutate(days === '' ? null : Number(days))
  }
  return (
    <Loaded of={retention} lines={1}>
      {({ retentionDays }) => (
        <Form onSubmit={submit}>
          <TextField
            label="Days"
            name="days"
            type="number"
            min={1}
            disabled={!can('privacy:write')}
            defaultValue={retentionDays ?? ''}
            hint="Leave it empty to keep them for ever. Older ones are deleted for good."
          />
          {save.error && <FormProblem>{sentenceOf(save.error)}</FormProblem>}
          {can('privacy:write') && (
            <FormActions>
              <Button type="submit" pending={save.isPending}>
                Save the days
              </Button>
            </FormActions>
          )}
        </Form>
      )}
    </Loaded>
  )
}

/** Deletes the agent. This cannot be undone, so the user has to type the agent's name. */
function Delete({ agent }: { agent: Agent }) {
  const [typed, setTyped] = useState('')
  const navigate = useNavigate()
  const remove = useMutation({
    mutationFn: () => call('DELETE', '/agents/{agentId}', { params: { agentId: agent.id } }),
    onSuccess: () => {
      tell('done', `${agent.name} is deleted.`)
      void queries.invalidateQueries({ queryKey: ['/agents'] })
      void navigate({ to: '/agents' })
    },
  })
  return (
    <Section title="Delete the agent" about="With its sources, conversations and tickets, for good.">
      <Card>
        <Form
          onSubmit={(event) => {
            event.preventDefault()
            remove.mutate()
          }}
        >
          <TextField
            label={`Type ${agent.name} to delete it`}
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
            autoComplete="off"
          />
          <FormActions>
            <Button kind="danger" type="submit" disabled={typed !== agent.name} pending={remove.isPending}>
              Delete for good
            </Button>
          </FormActions>
        </Form>
      </Card>
    </Section>
  )
}
