import { useQuery } from '@tanstack/react-query'
import { call } from '../app/api.ts'
import { base } from '../app/base.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Form, FormProblem, TextField } from '../ui/field.tsx'
import { Loaded, sentenceOf } from '../ui/state.tsx'
import { Gate, tokenOfLink } from './gate.tsx'
import { NewPassword } from './new-password.tsx'

/** The page that an invitation links to. */
export function InvitePage() {
  const token = tokenOfLink()
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => call('POST', '/invitations/look', { body: { token } }),
    retry: false,
  })
  const accept = useMutation({
    meta: { quiet: true },
    mutationFn: async (form: FormData) => {
      const password = String(form.get('password'))
      await call('POST', '/invitations/accept', {
        body: { token, name: String(form.get('name')).trim(), password },
      })
      await call('POST', '/sign-in', { body: { email: invitation.data?.email ?? '', password } })
    },
    onSuccess: () => location.assign(`${base}/`),
  })
  const submit = (fields: FormData): void => accept.mutate(fields)
  return (
    <Gate title={invitation.data ? `Join ${invitation.data.accountName}` : 'Invitation'}>
      <Loaded of={invitation}>
        {({ email, name, role }) => (
          <Form onSubmit={submit}>
            <p>
              You were invited as <strong>{role}</strong>. Choose a password and you are in.
            </p>
            <TextField label="Email" value={email} readOnly autoComplete="username" />
            <TextField
              label="Your name"
              name="name"
              defaultValue={name ?? ''}
              autoComplete="name"
              required
              maxLength={100}
            />
            <NewPassword />
            {accept.error && <FormProblem>{sentenceOf(accept.error)}</FormProblem>}
            <Button kind="primary" type="submit" pending={accept.isPending}>
              Join
            </Button>
          </Form>
        )}
      </Loaded>
    </Gate>
  )
}
