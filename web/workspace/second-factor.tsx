import { useState } from 'react'
import { call } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Code } from '../deploy/code.tsx'
import { Button } from '../ui/button.tsx'
import { Actions, Form, FormActions, FormProblem, TextField } from '../ui/field.tsx'
import { Card, Section } from '../ui/page.tsx'
import { QrCode } from '../ui/qr-code.tsx'
import { sentenceOf } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'

const refresh = () => fetchAgain('/me')

/** Sets up or removes the second factor of the signed-in member. */
export function SecondFactor({ isOn }: { isOn: boolean }) {
  const [password, setPassword] = useState('')
  const begin = useMutation({
    meta: { quiet: true },
    mutationFn: () => call('POST', '/second-factor', { body: { password } }),
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
          <ConfirmCode
            uri={begin.data.uri}
            backupCodes={begin.data.backupCodes ?? []}
            onConfirmed={begin.reset}
          />
        ) : (
          <Form
            onSubmit={() => {
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
            <Actions>
              <Button type="submit" pending={begin.isPending || remove.isPending}>
                {isOn ? 'Remove the second factor' : 'Set up a second factor'}
              </Button>
            </Actions>
          </Form>
        )}
      </Card>
    </Section>
  )
}

type ConfirmCodeProps = { uri: string; backupCodes: string[]; onConfirmed: () => void }

/** Shows the key of the authenticator until a code of it has been entered. */
function ConfirmCode({ uri, backupCodes, onConfirmed }: ConfirmCodeProps) {
  const [code, setCode] = useState('')
  const confirm = useMutation({
    meta: { quiet: true },
    mutationFn: () => call('POST', '/second-factor/confirm', { body: { code: code.trim() } }),
    onSuccess: () => {
      tell('done', 'From now on a code is asked for, too.')
      onConfirmed()
      return refresh()
    },
  })
  return (
    <Form onSubmit={() => confirm.mutate()}>
      <p>
        Scan this with your authenticator app, type the key below into it, or{' '}
        <a href={uri}>open the app on this device</a>. Then type the six digits that it shows.
      </p>
      <QrCode text={uri} label="QR code for the authenticator" />
      <Code label="Key for the authenticator" text={new URL(uri).searchParams.get('secret') ?? uri} />
      <p>Keep these backup codes. Each works once, should you lose the phone.</p>
      <Code label="Backup codes" text={backupCodes.join('\n')} />
      <TextField
        label="Code"
        inputMode="numeric"
        autoComplete="one-time-code"
        value={code}
        onChange={({ target }) => setCode(target.value)}
        required
      />
      <FormActions save={confirm} kind="primary" label="Switch it on" />
    </Form>
  )
}
