import { useState } from 'react'
import type { Scope } from '../../server/platform/http/contract.ts'
import { call, type InputOf } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMember } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Code } from '../deploy/code.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Check, Form, FormActions, FormProblem, Select, TextField } from '../ui/field.tsx'
import classes from './workspace.module.css'

type NewKey = InputOf<'POST', '/keys'>['body']

const DAY_MS = 86_400_000
const LIVES = [
  ['365', 'For a year'],
  ['90', 'For 90 days'],
  ['30', 'For 30 days'],
  ['', 'Until it is revoked'],
] as const

const refresh = () => fetchAgain('/keys')

/** Creates an API key and shows it once. */
export function MakeKey({ onClose }: { onClose: () => void }) {
  const own = useMember()?.scopes ?? []
  const [isLimited, setIsLimited] = useState(true)
  const [isEmpty, setIsEmpty] = useState(false)
  const make = useMutation({
    meta: { quiet: true },
    mutationFn: (body: NewKey) => call('POST', '/keys', { body }),
    onSettled: refresh,
  })
  const submit = (fields: FormData): void => {
    const days = Number(fields.get('days'))
    const scopes = fields.getAll('scopes') as Scope[]
    setIsEmpty(isLimited && scopes.length === 0)
    if (isLimited && scopes.length === 0) return
    make.mutate({
      name: String(fields.get('name')).trim(),
      ...(isLimited && { scopes }),
      ...(days > 0 && { expiresAt: new Date(Date.now() + days * DAY_MS).toISOString() }),
    })
  }
  if (make.data?.key) {
    return (
      <Dialog title="Your key" isOpen onClose={onClose}>
        <div className={classes.stack}>
          <p>It is shown this once. Keep it where your server reads its secrets from.</p>
          <Code label="API key" text={make.data.key} />
          <div>
            <Button kind="primary" onClick={onClose}>
              I have it
            </Button>
          </div>
        </div>
      </Dialog>
    )
  }
  return (
    <Dialog title="New key" isOpen onClose={onClose}>
      <Form save={make} onSubmit={submit}>
        <TextField
          label="Name"
          name="name"
          placeholder="Website backend"
          required
          maxLength={100}
          autoFocus
        />
        <Select label="It works" name="days" options={LIVES} />
        <Check
          label="Everything in this workspace"
          hint="Who has the key can then also delete and export. A key that may do less is safer."
          checked={!isLimited}
          onChange={({ target }) => {
            setIsLimited(!target.checked)
            setIsEmpty(false)
          }}
        />
        {isLimited && (
          <fieldset className={classes.scopeList}>
            <legend className="visually-hidden">What it may do</legend>
            {own.map((scope) => (
              <Check
                key={scope}
                name="scopes"
                value={scope}
                label={scope}
                defaultChecked={scope === 'chat'}
              />
            ))}
          </fieldset>
        )}
        {isEmpty && <FormProblem>Choose what the key may do.</FormProblem>}
        <FormActions save={make} kind="primary" label="Make the key" />
      </Form>
    </Dialog>
  )
}
