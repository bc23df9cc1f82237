import { useMutation, useQuery } from '@tanstack/react-query'
import { KeyRound, Plus } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import type { Scope } from '../../server/http/contract.ts'
import { call, type InputOf, reading } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { useCan, useMember } from '../app/session.ts'
import { Code } from '../deploy/code.tsx'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Check, Form, FormActions, FormProblem, Select, TextField } from '../ui/field.tsx'
import { formatTime } from '../ui/format.ts'
import { Badge, Section, Table } from '../ui/page.tsx'
import { Empty, Loaded, sentenceOf } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import classes from './workspace.module.css'

type NewKey = InputOf<'POST', '/keys'>['body']

const DAY_MS = 86_400_000
const LIVES = [
  ['', 'Until it is revoked'],
  ['30', 'For 30 days'],
  ['90', 'For 90 days'],
  ['365', 'For a year'],
] as const
const refresh = () => queries.invalidateQueries({ queryKey: ['/keys'] })

export function Keys() {
  const can = useCan()
  const keys = useQuery(reading('/keys'))
  const [isMaking, setIsMaking] = useState(false)
  const mayWrite = can('keys:write')
  const revoke = useMutation({
    mutationFn: (keyId: string) => call('DELETE', '/keys/{keyId}', { params: { keyId } }),
    onSuccess: () => tell('done', 'The key is refused from now on.'),
    onSettled: refresh,
  })
  const make = mayWrite && (
    <Button kind="primary" icon={Plus} onClick={() => setIsMaking(true)}>
      New key
    </Button>
  )
  return (
    <Section title="API keys" about="For your own servers. A page of a website needs none." actions={make}>
      <Loaded of={keys}>
        {(data) =>
          data.length === 0 ? (
            <Empty icon={KeyRound} title="No key yet">
              Whatever you see here can be done with a key, too.
            </Empty>
          ) : (
            <Table
              label="API keys"
              head={[
                'Name',
                'May do',
                'Last used',
                'Works until',
                <span key="a" className="visually-hidden">
                  Actions
                </span>,
              ]}
            >
              {data.map(({ id, name, prefix, state, scopes, lastUsedAt, expiresAt }) => (
                <tr key={id}>
                  <td>
                    <strong className={classes.strong}>{name}</strong>
                    <p className={classes.faint}>{prefix}…</p>
                  </td>
                  <td className={classes.scopes}>{scopes?.join(', ') ?? 'Everything'}</td>
                  <td className={classes.nowrap}>{lastUsedAt ? <Ago at={lastUsedAt} /> : 'Never'}</td>
                  <td className={classes.nowrap}>
                    {state === 'active' ? (
                      expiresAt ? (
                        formatTime(expiresAt)
                      ) : (
                        'You revoke it'
                      )
                    ) : (
                      <Badge tone="warning">{state}</Badge>
                    )}
                  </td>
                  <td className={classes.end}>
                    {mayWrite && state === 'active' && (
                      <Revoke name={name} onRevoke={() => revoke.mutate(id)} />
                    )}
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Loaded>
      {isMaking && <MakeKey onClose={() => setIsMaking(false)} />}
    </Section>
  )
}

/** Revokes an API key. This cannot be undone, so it takes two clicks. */
function Revoke({ name, onRevoke }: { name: string; onRevoke: () => void }) {
  const [isSure, setIsSure] = useState(false)
  return isSure ? (
    <Button small kind="danger" onClick={onRevoke} onBlur={() => setIsSure(false)}>
      Revoke for good
    </Button>
  ) : (
    <Button small kind="quiet" aria-label={`Revoke ${name}`} onClick={() => setIsSure(true)}>
      Revoke
    </Button>
  )
}

function MakeKey({ onClose }: { onClose: () => void }) {
  const own = useMember()?.scopes ?? []
  const [isLimited, setIsLimited] = useState(false)
  const make = useMutation({
    meta: { quiet: true },
    mutationFn: (body: NewKey) => call('POST', '/keys', { body }),
    onSettled: refresh,
  })
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const days = Number(form.get('days'))
    make.mutate({
      name: String(form.get('name')).trim(),
      ...(isLimited && { scopes: form.getAll('scopes') as Scope[] }),
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
      <Form onSubmit={submit}>
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
          label="Only some things"
          hint="Otherwise it may do everything in this workspace."
          checked={isLimited}
          onChange={({ target }) => setIsLimited(target.checked)}
        />
        {isLimited && (
          <fieldset className={classes.scopeList}>
            <legend className="visually-hidden">What it may do</legend>
            {own.map((scope) => (
              <Check key={scope} name="scopes" value={scope} label={scope} />
            ))}
          </fieldset>
        )}
        {make.error && <FormProblem>{sentenceOf(make.error)}</FormProblem>}
        <FormActions>
          <Button kind="primary" type="submit" pending={make.isPending}>
            Make the key
          </Button>
        </FormActions>
      </Form>
    </Dialog>
  )
}
