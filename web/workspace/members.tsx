import { useMutation, useQuery } from '@tanstack/react-query'
import { Ellipsis, Trash2, UserPlus } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { call, type InputOf, type OutputOf, reading } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { useAgents, useCan, useMember } from '../app/session.ts'
import { Code } from '../deploy/code.tsx'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Check, Form, FormActions, FormProblem, Select, TextField } from '../ui/field.tsx'
import { Menu } from '../ui/menu.tsx'
import { Badge, Section, Table } from '../ui/page.tsx'
import { Loaded, sentenceOf } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import classes from './workspace.module.css'

type Member = OutputOf<'GET', '/members'>[number]
type Role = Member['role']
type Invitation = InputOf<'POST', '/invitations'>['body']

const ROLES: readonly (readonly [Role, string, string])[] = [
  ['owner', 'Owner', 'Everything'],
  ['admin', 'Admin', 'Everything but who is an owner'],
  ['builder', 'Builder', 'Agents, sources, actions and channels'],
  ['support', 'Support', 'Inbox, conversations and contacts'],
  ['viewer', 'Viewer', 'Reads'],
]
const roleName = (role: Role): string => ROLES.find(([id]) => id === role)?.[1] ?? role
const refresh = (path: string) => queries.invalidateQueries({ queryKey: [path] })

export function Members() {
  const can = useCan()
  const members = useQuery(reading('/members'))
  const [isInviting, setIsInviting] = useState(false)
  const mayWrite = can('members:write')
  return (
    <div className={classes.parts}>
      <Section
        title="Members"
        actions={
          mayWrite && (
            <Button kind="primary" icon={UserPlus} onClick={() => setIsInviting(true)}>
              Invite
            </Button>
          )
        }
      >
        <Loaded of={members}>
          {(data) => (
            <Table
              label="Members"
              head={['Name', 'Role', 'Agents', 'Last here', <Hidden key="a">Actions</Hidden>]}
            >
              {data.map((member) => (
                <MemberRow key={member.id} member={member} mayWrite={mayWrite} />
              ))}
            </Table>
          )}
        </Loaded>
      </Section>
      <Invitations mayWrite={mayWrite} />
      {isInviting && <Invite onClose={() => setIsInviting(false)} />}
    </div>
  )
}

const Hidden = ({ children }: { children: string }) => <span className="visually-hidden">{children}</span>

function MemberRow({ member, mayWrite }: { member: Member; mayWrite: boolean }) {
  const me = useMember()
  const agents = useAgents().data?.data ?? []
  const change = useMutation({
    mutationFn: (role: Role) =>
      call('PATCH', '/members/{memberId}', { params: { memberId: member.id }, body: { role } }),
    onSuccess: () => tell('done', `${member.name} has another role.`),
    onSettled: () => refresh('/members'),
  })
  const remove = useMutation({
    mutationFn: () => call('DELETE', '/members/{memberId}', { params: { memberId: member.id } }),
    onSuccess: () => tell('done', `${member.name} is no member any more.`),
    onSettled: () => refresh('/members'),
  })
  const limited = member.agentIds?.map((id) => agents.find((agent) => agent.id === id)?.name ?? 'another one')
  const isMe = member.id === me?.id
  return (
    <tr>
      <td>
        <strong className={classes.strong}>{member.name}</strong> {isMe && <Badge>you</Badge>}
        <p className={classes.faint}>{member.email}</p>
      </td>
      <td>
        {mayWrite && !isMe ? (
          <Select
            label={`Role of ${member.name}`}
            hideLabel
            options={ROLES.map(([id, name]) => [id, name] as const)}
            value={member.role}
            onChange={({ target }) => change.mutate(target.value as Role)}
          />
        ) : (
          roleName(member.role)
        )}
      </td>
      <td>{limited?.join(', ') ?? 'All'}</td>
      <td className={classes.nowrap}>
        {member.lastSignInAt ? (
          <Ago at={member.lastSignInAt} />
        ) : member.canSignIn ? (
          'Never'
        ) : (
          'Cannot sign in'
        )}
        {member.hasSecondFactor && (
          <>
            {' '}
            <Badge tone="success">2FA</Badge>
          </>
        )}
      </td>
      <td className={classes.end}>
        {mayWrite && !isMe && (
          <Menu
            label={`Actions for ${member.name}`}
            className={classes.dots}
            choices={[
              {
                id: 'remove',
                label: 'Remove from the workspace',
                icon: Trash2,
                danger: true,
                onChoose: () => remove.mutate(),
              },
            ]}
          >
            <Ellipsis size={18} aria-hidden />
          </Menu>
        )}
      </td>
    </tr>
  )
}

function Invitations({ mayWrite }: { mayWrite: boolean }) {
  const { data } = useQuery(reading('/invitations'))
  const revoke = useMutation({
    mutationFn: (invitationId: string) =>
      call('DELETE', '/invitations/{invitationId}', { params: { invitationId } }),
    onSettled: () => refresh('/invitations'),
  })
  if (!data || data.length === 0) return null
  return (
    <Section title="Invited">
      <Table label="Invitations" head={['Email', 'Role', 'State', <Hidden key="a">Actions</Hidden>]}>
        {data.map(({ id, email, role, isExpired, createdAt }) => (
          <tr key={id}>
            <td>{email}</td>
            <td>{roleName(role)}</td>
            <td>
              {isExpired ? (
                <Badge tone="warning">Expired</Badge>
              ) : (
                <>
                  Invited <Ago at={createdAt} />
                </>
              )}
            </td>
            <td className={classes.end}>
              {mayWrite && (
                <Button small kind="quiet" onClick={() => revoke.mutate(id)}>
                  Take back
                </Button>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  )
}

function Invite({ onClose }: { onClose: () => void }) {
  const me = useMember()
  const agents = useAgents().data?.data ?? []
  const [role, setRole] = useState<Role>('support')
  const [agentIds, setAgentIds] = useState<string[]>([])
  const canLimit = role !== 'owner' && role !== 'admin'
  const invite = useMutation({
    meta: { quiet: true },
    mutationFn: (body: Invitation) => call('POST', '/invitations', { body }),
    onSettled: () => refresh('/invitations'),
  })
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const email = String(new FormData(event.currentTarget).get('email')).trim()
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
      <Form onSubmit={submit}>
        <TextField label="Email" name="email" type="email" required autoFocus />
        <Select
          label="Role"
          options={ROLES.filter(([id]) => id !== 'owner' || me?.role === 'owner').map(
            ([id, name, about]) => [id, `${name}: ${about.toLowerCase()}`] as const,
          )}
          value={role}
          onChange={({ target }) => setRole(target.value as Role)}
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
        {invite.error && <FormProblem>{sentenceOf(invite.error)}</FormProblem>}
        <FormActions>
          <Button kind="primary" type="submit" pending={invite.isPending}>
            Make the invitation
          </Button>
        </FormActions>
      </Form>
    </Dialog>
  )
}
