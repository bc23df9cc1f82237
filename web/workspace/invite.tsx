import { useState } from 'react'
import { call, type InputOf } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useAgents, useMember } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Code } from '../deploy/code.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Check, Form, FormActions, Select, TextField } from '../ui/field.tsx'
import { ROLES, type Role } from './roles.ts'
import classes from './workspace.module.css'

type Invitation = InputOf<'POST', '/invitations'>['body']

/** Invites somebody and shows the link of the invitation once. */
export function Invite({ onClose }: { onClose: () => void }) {
  const me = useMember()
  const agents = useAgents().data?.data ?? []
  const [role, setRole] = useState<Role>('support')
  const [agentIds, setAgentIds] = useState<string[]>([])
  const canLimit = role !== 'owner' && role !== 'admin'
  const invite = useMutation({
    meta: { quiet: true },
    mutationFn: (body: Invitation) => call('POST', '/invitations', { body }),
    onSettled: () => fetchAgain('/invitations'),
  })
  const submit = (fields: FormData): void => {
    const email = String(fields.get('email')).trim()
    invite.mutate({ email, role, agentIds: canLimit && agentIds.length > 0 ? agentIds : null })
  }
  const { data } = invite
  if (data?.link) {
    return (
      <Dialog title="Invited" isOpen onClose={onClose}>
        <div className={classes.stack}>
          <p>
            {data.mailed
              ? `A mail with this link is on its way to ${data.email}.`
              : `Send this link to ${data.email}. This installation sends no mail by itself.`}{' '}
            It works once and for seven days, and is shown this once.
          </p>
          <Code label="Link of the invitation" text={data.link} />
          <div>
            <Button kind="primary" onClick={onClose}>
              Done
            </Button>
          </div>
        </div>
      </Dialog>
    )
  }
  return (
    <Dialog title="Invite somebody" isOpen onClose={onClose}>
      <Form save={invite} onSubmit={submit}>
        <TextField label="Email" name="email" type="email" required autoFocus />
        <Select
          label="Role"
          options={ROLES.filter(([id]) => id !== 'owner' || me?.role === 'owner').map(
            ([id, name, about]) => [id, `${name}: ${about.toLowerCase()}`] as const,
          )}
          value={role}
          onChoose={setRole}
        />
        {canLimit && agents.length > 1 && (
          <fieldset className={classes.limits}>
            <legend>Only these agents</legend>
            <p className={classes.faint}>None chosen: all of them, those to come included.</p>
            {agents.map(({ id, name }) => (
              <Check
                key={id}
                label={name}
                checked={agentIds.includes(id)}
                onChange={({ target }) =>
                  setAgentIds(target.checked ? [...agentIds, id] : agentIds.filter((one) => one !== id))
                }
              />
            ))}
          </fieldset>
        )}
        <FormActions save={invite} kind="primary" label="Make the invitation" />
      </Form>
    </Dialog>
  )
}
