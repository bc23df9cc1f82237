import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { call, reading } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { useMember } from '../app/session.ts'
import { Code } from '../deploy/code.tsx'
import { NewPassword } from '../sign-in/new-password.tsx'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { Form, FormActions, FormProblem, TextField } from '../ui/field.tsx'
import { Badge, Card, Page, Section, Table } from '../ui/page.tsx'
import { Loaded, sentenceOf } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import classes from './workspace.module.css'

/** The account of the signed-in member: sessions, password and second factor. */
export function AccountPage() {
  const member = useMember()
  return (
    <Page title="Your account" about={member && `${member.name}, ${member.email}, ${member.role}`} narrow>
      <Sessions />
      <Password />
      <SecondFactor isOn={member?.hasSecondFactor ?? false} />
    </Page>
  )
}

function Sessions() {
  const sessions = useQuery(reading('/sessions'))
  const refresh = () => queries.invalidateQueries({ queryKey: ['/sessions'] })
  const end = useMutation({
    mutationFn: (sessionId: string) => call('DELETE', '/sessions/{sessionId}', { params: { sessionId } }),
    onSettled: refresh,
  })
  const endOthers = useMutation({
    mutationFn: () => call('DELETE', '/sessions'),
    onSuccess: () => tell('done', 'You are signed out everywhere else.'),
    onSettled: refresh,
  })
  return (
    <Section
      title="Where you are signed in"
      actions={
        (sessions.data?.length ?? 0) > 1 && (
          <Button small onClick={() => endOthers.mutate()} pending={endOthers.isPending}>
            Sign out everywhere else
          </Button>
        )
      }
    >
      <Loaded of={sessions}>
        {(data) => (
          <Table
            label="Sessions"
            head={[
              'Browser',
              'Address',
              'Since',
              <span key="a" className="visually-hidden">
                Actions
              </span>,
            ]}
          >
            {data.map(({ id, isCurrent, userAgent, address, createdAt }) => (
              <tr key={id}>
                <td>
                  {browserOf(userAgent)} {isCurrent && <Badge tone="accent">this one</Badge>}
                </td>
                <td>{address ?? '–'}</td>
                <td className={classes.nowrap}>
                  <Ago at={createdAt} />
                </td>
                <td className={classes.end}>
                  {!isCurrent && (
                    <Button small kind="quiet" onClick={() => end.mutate(id)}>
                      Sign out
                    </Button>
                  )}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Loaded>
    </Section>
  )
}

function browserOf(userAgent: string | null): string {
  const name = /(Firefox|Edg|Chrome|Safari)\//.exec(userAgent ?? '')?.[1]?.replace('Edg', 'Edge')
  const system = /Windows|Mac OS X|Android|iPhone|iPad|Linux/.exec(userAgent ?? '')?.[0]
  return name ? `${name}${system ? `, ${system.replace(' OS X', '')}` : ''}` : 'Another program'
}

function Password() {
  const change = useMutation({
    meta: { quiet: true },
    mutationFn: (body: { currentPassword: string; newPassword: string }) =>
      call('PUT', '/password', { body }),
  })
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const element = event.currentTarget
    const form = new FormData(element)
    change.mutate(
      { currentPassword: String(form.get('current')), newPassword: String(form.get('new')) },
      {
        onSuccess: () => {
          element.reset()
          tell('done', 'Your password is changed. Your other sessions have ended.')
        },
      },
    )
  }
  return (
    <Section title="Password">
      <Card>
        <Form onSubmit={submit}>
          <TextField
            label="Current password"
            name="current"
            type="password"
            autoComplete="current-password"
            required
          />
          <NewPassword label="New password" name="new" />
          {change.error && <FormProblem>{sentenceOf(change.error)}</FormProblem>}
          <FormActions>
            <Button type="submit" pending={change.isPending}>
              Change the password
            </Button>
          </FormActions>
        </Form>
      </Card>
    </Section>
  )
}

function SecondFactor({ isOn }: { isOn: boolean }) {
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const refresh = () => queries.invalidateQueries({ queryKey: ['/me'] })
  const begin = useMutation({
    meta: { quiet: true },
    mutationFn: () => call('POST', '/second-factor', { body: { password } }),
  })
  const confirm = useMutation({
    meta: { quiet: true },
    mutationFn: () => call('POST', '/second-factor/confirm', { body: { code: code.trim() } }),
    onSuccess: () => {
      tell('done', 'From now on a code is asked for, too.')
      begin.reset()
      return refresh()
    },
  })
  const remove = useMutation({
    meta: { quiet: true },
    mutationFn: () => call('DELETE', '/second-factor', { body: { password } }),
    onSuccess: () => {
      setPassword('')
      tell('done', 'The password alone is enough again.')
      return refresh()
    },
  })
  const error = begin.error ?? remove.error
  return (
    <Section title="Second factor" about="A code from your phone, asked for after the password.">
      <Card>
        {begin.data?.uri ? (
          <Form
            onSubmit={(event) => {
              event.preventDefault()
              confirm.mutate()
            }}
          >
            <p>
              Type this key into your authenticator app, or{' '}
              <a href={begin.data.uri}>open the app on this device</a>. Then type the six digits that it
              shows.
            </p>
            <Code
              label="Key for the authenticator"
              text={new URL(begin.data.uri).searchParams.get('secret') ?? begin.data.uri}
            />
            <p>Keep these backup codes. Each works once, should you lose the phone.</p>
            <Code label="Backup codes" text={(begin.data.backupCodes ?? []).join('\n')} />
            <TextField
              label="Code"
              inputMode="numeric"
              autoComplete="one-time-code"
              value={code}
              onChange={({ target }) => setCode(target.value)}
              required
            />
            {confirm.error && <FormProblem>{sentenceOf(confirm.error)}</FormProblem>}
            <FormActions>
              <Button kind="primary" type="submit" pending={confirm.isPending}>
                Switch it on
              </Button>
            </FormActions>
          </Form>
        ) : (
          <Form
            onSubmit={(event) => {
              event.preventDefault()
              if (isOn) remove.mutate()
              else begin.mutate()
            }}
          >
            <TextField
              label="Your password"
              type="password"
              autoComplete="current-password"
              value={password}
              onChange={({ target }) => setPassword(target.value)}
              required
            />
            {error && <FormProblem>{sentenceOf(error)}</FormProblem>}
            <FormActions>
              <Button type="submit" pending={begin.isPending || remove.isPending}>
                {isOn ? 'Remove the second factor' : 'Set up a second factor'}
              </Button>
            </FormActions>
          </Form>
        )}
      </Card>
    </Section>
  )
}
