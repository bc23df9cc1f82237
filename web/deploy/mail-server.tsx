import { useState } from 'react'
import { Select, TextField } from '../ui/field.tsx'
import classes from './deploy.module.css'

type Security = 'tls' | 'starttls' | 'none'
type Server = {
  host: string
  port: number
  security: Security
  username: string | null
  hasPassword: boolean
}

const SECURITIES = [
  ['tls', 'TLS from the first byte'],
  ['starttls', 'STARTTLS'],
  ['none', 'None: the password is sent in the clear'],
] as const
const PORTS = {
  imap: { tls: 993, starttls: 143, none: 143 },
  smtp: { tls: 465, starttls: 587, none: 25 },
} as const

/** The fields of one mail server. The port follows the type of encryption until the user enters another one. */
export function MailServer({
  kind,
  title,
  server,
}: {
  kind: 'imap' | 'smtp'
  title: string
  server: (Server & { mailbox?: string }) | null
}) {
  const [security, setSecurity] = useState<Security>(server?.security ?? 'tls')
  const [port, setPort] = useState(String(server?.port ?? PORTS[kind].tls))
  const isUsual = Object.values(PORTS[kind]).map(String).includes(port) || port === ''
  const change = (next: Security): void => {
    setSecurity(next)
    if (isUsual) setPort(String(PORTS[kind][next]))
  }
  return (
    <fieldset>
      <legend>{title}</legend>
      <div className={classes.place}>
        <TextField
          label="Server"
          name={`${kind}.host`}
          placeholder={`${kind}.example.com`}
          defaultValue={server?.host}
          required={kind === 'smtp'}
          autoCapitalize="none"
          spellCheck={false}
        />
        <TextField
          label="Port"
          name={`${kind}.port`}
          type="number"
          min={1}
          max={65_535}
          value={port}
          onChange={({ target }) => setPort(target.value)}
          required
        />
      </div>
      <Select
        label="Security"
        name={`${kind}.security`}
        options={SECURITIES}
        value={security}
        onChoose={change}
      />
      <TextField
        label="User name"
        name={`${kind}.username`}
        defaultValue={server?.username ?? ''}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
      />
      <TextField
        label="Password"
        name={`${kind}.password`}
        type="password"
        autoComplete="new-password"
        hint={server?.hasPassword ? 'Leave it empty to keep the one that is stored.' : undefined}
      />
      {kind === 'imap' && (
        <TextField
          label="Folder"
          name="imap.mailbox"
          placeholder="INBOX"
          defaultValue={server?.mailbox}
          hint="Leave the server empty to receive no mail this way."
        />
      )}
    </fieldset>
  )
}

/** Reads the fields of one server. */
export function serverOf(form: FormData, kind: 'imap' | 'smtp') {
  const text = (name: string) => String(form.get(`${kind}.${name}`) ?? '').trim()
  const [username, password] = [text('username'), String(form.get(`${kind}.password`) ?? '')]
  return {
    host: text('host'),
    port: Number(text('port')),
    security: text('security') as Security,
    ...(username && { username }),
    ...(password && { password }),
  }
}
