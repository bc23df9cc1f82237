import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call, reading } from '../app/api.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Form, FormProblem, TextField } from '../ui/field.tsx'
import { sentenceOf } from '../ui/state.tsx'
import { Gate, tokenOfLink } from './gate.tsx'
import { NewPassword } from './new-password.tsx'

export function ForgotPage() {
  const { data } = useQuery(reading('/sign-in'))
  const ask = useMutation({
    meta: { quiet: true },
    mutationFn: (email: string) => call('POST', '/password-resets', { body: { email } }),
  })
  const submit = (fields: FormData): void => ask.mutate(String(fields.get('email')))
  if (data && !data.mailsResets) {
    return (
      <Gate
        title="Forgot your password?"
        about="This installation sends no mail. Ask whoever runs it for a new link: the command member reset-link prints one."
      >
        <Link to="/sign-in">Back to signing in</Link>
      </Gate>
    )
  }
  return (
    <Gate title="Forgot your password?" about="We send a link with which you choose a new one.">
      {ask.isSuccess ? (
        <p role="status">If somebody has this address, a mail is on its way. The link works for an hour.</p>
      ) : (
        <Form onSubmit={submit}>
          <TextField label="Email" name="email" type="email" autoComplete="username" required autoFocus />
          {ask.error && <FormProblem>{sentenceOf(ask.error)}</FormProblem>}
          <Button kind="primary" type="submit" pending={ask.isPending}>
            Send the link
          </Button>
        </Form>
      )}
      <Link to="/sign-in">Back to signing in</Link>
    </Gate>
  )
}

export function ResetPage() {
  const reset = useMutation({
    meta: { quiet: true },
    mutationFn: (password: string) =>
      call('POST', '/password-resets/accept', { body: { token: tokenOfLink(), password } }),
  })
  const submit = (fields: FormData): void => reset.mutate(String(fields.get('password')))
  if (reset.isSuccess) {
    return (
      <Gate title="Your password is changed" about="Everywhere else you are signed out.">
        <Link to="/sign-in">Sign in</Link>
      </Gate>
    )
  }
  return (
    <Gate title="Choose a new password">
      <Form onSubmit={submit}>
        <NewPassword label="New password" />
        {reset.error && <FormProblem>{sentenceOf(reset.error)}</FormProblem>}
        <Button kind="primary" type="submit" pending={reset.isPending}>
          Change the password
        </Button>
      </Form>
    </Gate>
  )
}
