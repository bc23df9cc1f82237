import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { call, reading } from '../app/api.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Form, FormProblem, TextField } from '../ui/field.tsx'
import { sentenceOf } from '../ui/state.tsx'
import classes from './gate.module.css'

type SignInFormProps = {
  /** The address of the member who signs in again. */
  email?: string | undefined
  onDone: () => void
  /** Opens the page of the provider with which the member can also sign in. */
  onProvider: (url: string) => void
  /** What is offered to somebody who cannot sign in. */
  children: ReactNode
}

/** Asks for the password, and for the code of a second factor where the member has one. */
export function SignInForm({ email, onDone, onProvider, children }: SignInFormProps) {
  const [asksCode, setAsksCode] = useState(false)
  const how = useQuery(reading('/sign-in'))
  const signIn = useMutation({
    meta: { quiet: true },
    mutationFn: (body: { email: string; password: string }) => call('POST', '/sign-in', { body }),
    onSuccess: ({ secondFactor }) => (secondFactor ? setAsksCode(true) : onDone()),
  })
  const provider = useMutation({
    mutationFn: () => call('POST', '/sign-in/provider'),
    onSuccess: ({ url }) => onProvider(url),
  })
  const submit = (fields: FormData): void =>
    signIn.mutate({ email: String(fields.get('email')), password: String(fields.get('password')) })
  if (asksCode) return <SecondFactor onDone={onDone} onAgain={() => setAsksCode(false)} />
  return (
    <>
      <Form onSubmit={submit}>
        <TextField
          label="Email"
          name="email"
          type="email"
          autoComplete="username"
          defaultValue={email}
          readOnly={email !== undefined}
          required
          autoFocus={email === undefined}
        />
        <TextField
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
          autoFocus={email !== undefined}
        />
        {signIn.error && <FormProblem>{sentenceOf(signIn.error)}</FormProblem>}
        <Button kind="primary" type="submit" pending={signIn.isPending}>
          Sign in
        </Button>
        {children}
      </Form>
      {how.data?.provider && (
        <>
          <p className={classes.or}>or</p>
          <Button pending={provider.isPending} onClick={() => provider.mutate()}>
            Continue with {how.data.provider.name}
          </Button>
        </>
      )}
    </>
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
    <Form onSubmit={() => send.mutate()}>
      <h2 className={classes.step}>One more step</h2>
      <p className={classes.about}>Type the six digits of your authenticator, or a backup code.</p>
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
  )
}
