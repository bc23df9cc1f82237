import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { call, reading } from '../app/api.ts'
import { Button } from '../ui/button.tsx'
import { Form, FormProblem, TextField } from '../ui/field.tsx'
import { sentenceOf } from '../ui/state.tsx'
import classes from './gate.module.css'
import { Gate } from './gate.tsx'

/** Accepts only paths of this workspace, so that a link cannot redirect users to another site after sign-in. */
function insideOf(to: unknown): string {
  const url = URL.parse(String(to ?? '/'), location.origin)
  // The whole URL: a path alone may begin with two slashes and lead to another host.
  return url?.origin === location.origin ? url.href : '/'
}

export function SignInPage() {
  const { to } = useSearch({ strict: false }) as { to?: unknown }
  const [asksCode, setAsksCode] = useState(false)
  const how = useQuery(reading('/sign-in'))
  // A full page load discards all state of an earlier session.
  const enter = () => location.assign(insideOf(to))
  const signIn = useMutation({
    meta: { quiet: true },
    mutationFn: (body: { email: string; password: string }) => call('POST', '/sign-in', { body }),
    onSuccess: ({ secondFactor }) => (secondFactor ? setAsksCode(true) : enter()),
  })
  const provider = useMutation({
    mutationFn: () => call('POST', '/sign-in/provider'),
    onSuccess: ({ url }) => location.assign(url),
  })
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    signIn.mutate({ email: String(form.get('email')), password: String(form.get('password')) })
  }
  if (asksCode) return <SecondFactor onDone={enter} onAgain={() => setAsksCode(false)} />
  return (
    <Gate
      title="Sign in"
      about={
        how.data?.needsSetUp &&
        'Nobody has an account here yet. The start of the service prints a link with which the first owner sets it up.'
      }
    >
      <Form onSubmit={submit}>
        <TextField label="Email" name="email" type="email" autoComplete="username" required autoFocus />
        <TextField
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
        />
        {signIn.error && <FormProblem>{sentenceOf(signIn.error)}</FormProblem>}
        <Button kind="primary" type="submit" pending={signIn.isPending}>
          Sign in
        </Button>
        <Link to="/forgot">Forgot your password?</Link>
      </Form>
      {how.data?.provider && (
        <>
          <p className={classes.or}>or</p>
          <Button pending={provider.isPending} onClick={() => provider.mutate()}>
            Continue with {how.data.provider.name}
          </Button>
        </>
      )}
    </Gate>
  )
}

function SecondFactor({ onDone, onAgain }: { onDone: () => void; onAgain: () => void }) {
  const [code, setCode] = useState('')
  const send = useMutation({
    meta: { quiet: true },
    mutationFn: () => call('POST', '/sign-in/second-factor', { body: { code: code.trim() } }),
    onSuccess: onDone,
  })
  return (
    <Gate title="One more step" about="Type the six digits of your authenticator, or a backup code.">
      <Form
        onSubmit={(event) => {
          event.preventDefault()
          send.mutate()
        }}
      >
        <TextField
          label="Code"
          value={code}
          onChange={({ target }) => setCode(target.value)}
          autoComplete="one-time-code"
          inputMode="numeric"
          autoFocus
          required
        />
        {send.error && <FormProblem>{sentenceOf(send.error)}</FormProblem>}
        <Button kind="primary" type="submit" pending={send.isPending}>
          Go on
        </Button>
        <Button onClick={onAgain}>Sign in again</Button>
      </Form>
    </Gate>
  )
}
