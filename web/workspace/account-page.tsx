import { useQuery } from '@tanstack/react-query'
import { call, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMember } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { NewPassword } from '../sign-in/new-password.tsx'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { Form, FormActions, TextField } from '../ui/field.tsx'
import { Hidden } from '../ui/hidden.tsx'
import { Badge, Card, Page, Section, Table } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import { SecondFactor } from './second-factor.tsx'
import classes from './workspace.module.css'

/** The account of the signed-in member: sessions, password and second factor. */
export function AccountPage() {
  const member = useMember()
  return (
    <Page title="Your account" about={member && `${member.name}, ${member.email}, ${member.role}`} narrow>
      {member && <OwnName key={member.name} name={member.name} />}
      <Sessions />
      <Password />
      <SecondFactor isOn={member?.hasSecondFactor ?? false} />
    </Page>
  )
}

function OwnName({ name }: { name: string }) {
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: (next: string) => call('PATCH', '/me', { body: { name: next } }),
    onSuccess: () => {
      tell('done', 'Saved.')
      void fetchAgain('/members')
      return fetchAgain('/me')
    },
  })
  const submit = (fields: FormData): void => save.mutate(String(fields.get('name')).trim())
  return (
    <Section title="Name" about="Your colleagues and the visitors whom you answer see it.">
      <Card>
        <Form save={save} onSubmit={submit}>
          <TextField
            label="Your name"
            name="name"
            defaultValue={name}
            required
            maxLength={100}
            autoComplete="name"
          />
          <FormActions save={save} label="Rename" />
        </Form>
      </Card>
    </Section>
  )
}

function Sessions() {
  const sessions = useQuery(reading('/sessions'))
  const refresh = () => fetchAgain('/sessions')
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
          <Table label="Sessions" head={['Browser', 'Address', 'Since', <Hidden key="a">Actions</Hidden>]}>
            {data.map(({ id, isCurrent, userAgent, address, createdAt }) => (
              <tr key={id}>
                <td>
                  {browserOf(userAgent)} {isCurrent && <Badge tone="accent">this browser</Badge>}
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
  const submit = (fields: FormData, form: HTMLFormElement): void => {
    change.mutate(
      { currentPassword: String(fields.get('current')), newPassword: String(fields.get('new')) },
      {
        onSuccess: () => {
          form.reset()
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
          <FormActions save={change} label="Change the password" />
        </Form>
      </Card>
    </Section>
  )
}
