import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type OutputOf, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { SavedSelect } from '../app/saved-select.tsx'
import { useAgents, useCan, useMember } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { Hidden } from '../ui/hidden.tsx'
import { Ellipsis, Pencil, Trash2, UserPlus } from '../ui/icons.ts'
import { Menu } from '../ui/menu.tsx'
import { Badge, Section, Table } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import { Invite } from './invite.tsx'
import { RenameMember } from './rename-member.tsx'
import { RevokeKeysBy } from './revoke-keys-by.tsx'
import { ROLES, type Role, roleName } from './roles.ts'
import classes from './workspace.module.css'

type Member = OutputOf<'GET', '/members'>[number]

const refresh = (path: string) => fetchAgain(path)

export function Members() {
  const can = useCan()
  const members = useQuery(reading('/members'))
  const [isInviting, setIsInviting] = useState(false)
  const [removed, setRemoved] = useState<Member | null>(null)
  const mayWrite = can('members:write')
  return (
    <div className={classes.parts}>
      <Section
        title="Members"
        about="Who signs in, and what they may do."
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
              stacked
              label="Members"
              head={['Name', 'Role', 'Agents', 'Last sign-in', <Hidden key="a">Actions</Hidden>]}
            >
              {data.map((member) => (
                <MemberRow
                  key={member.id}
                  member={member}
                  mayWrite={mayWrite}
                  onKeysLeft={() => can('keys:write') && setRemoved(member)}
                />
              ))}
            </Table>
          )}
        </Loaded>
      </Section>
      <Invitations mayWrite={mayWrite} />
      {isInviting && <Invite onClose={() => setIsInviting(false)} />}
      {removed && (
        <RevokeKeysBy
          createdBy={`member:${removed.id}`}
          name={removed.name}
          onClose={() => setRemoved(null)}
        />
      )}
    </div>
  )
}

type MemberRowProps = {
  member: Member
  mayWrite: boolean
  /** The member was removed, and keys that they have made still work. */
  onKeysLeft: () => void
}

function MemberRow({ member, mayWrite, onKeysLeft }: MemberRowProps) {
  const me = useMember()
  const [isRenaming, setIsRenaming] = useState(false)
  const [isRemoving, setIsRemoving] = useState(false)
  const agents = useAgents().data?.data ?? []
  const change = useChangeRole(member)
  const remove = useMutation({
    mutationFn: () => call('DELETE', '/members/{memberId}', { params: { memberId: member.id } }),
    onSuccess: ({ activeKeys }) => {
      tell('done', `${member.name} is no longer a member.`)
      if (activeKeys > 0) onKeysLeft()
    },
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
          <SavedSelect
            label={`Role of ${member.name}`}
            hideLabel
            options={ROLES.map(([id, name]) => [id, name] as const)}
            value={member.role}
            onSave={(role) => change.mutateAsync(role)}
          />
        ) : (
          roleName(member.role)
        )}
      </td>
      <td>{limited?.join(', ') ?? 'All'}</td>
      <td className={classes.nowrap}>
        <SignedIn member={member} />
      </td>
      <td className={classes.end}>
        {mayWrite && !isMe && (
          <Menu
            label={`Actions for ${member.name}`}
            className={classes.dots}
            choices={[
              { id: 'rename', label: 'Rename', icon: Pencil, onChoose: () => setIsRenaming(true) },
              {
                id: 'remove',
                label: 'Remove from the workspace',
                icon: Trash2,
                danger: true,
                onChoose: () => setIsRemoving(true),
              },
            ]}
          >
            <Ellipsis size={18} aria-hidden />
          </Menu>
        )}
        {isRemoving && (
          <Confirm
            title={`Remove ${member.name}?`}
            action="Remove from the workspace"
            pending={remove.isPending}
            onConfirm={() => remove.mutate()}
            onClose={() => setIsRemoving(false)}
          >
            {member.name} is signed out everywhere and can only come back with an invitation.
          </Confirm>
        )}
        {isRenaming && <RenameMember member={member} onClose={() => setIsRenaming(false)} />}
      </td>
    </tr>
  )
}

function useChangeRole(member: Member) {
  const change = useMutation({
    scope: { id: `role ${member.id}` },
    mutationFn: (role: Role) =>
      call('PATCH', '/members/{memberId}', { params: { memberId: member.id }, body: { role } }),
    onSuccess: (_member, role) => {
      const before = member.role
      if (role !== before)
        tell('done', `${member.name} has another role.`, { label: 'Undo', run: () => change.mutate(before) })
    },
    onSettled: () => refresh('/members'),
  })
  return change
}

function SignedIn({ member }: { member: Member }) {
  return (
    <>
      {member.lastSignInAt ? <Ago at={member.lastSignInAt} /> : member.canSignIn ? 'Never' : 'Cannot sign in'}
      {member.hasSecondFactor && (
        <>
          {' '}
          <Badge tone="success">2FA</Badge>
        </>
      )}
    </>
  )
}

function Invitations({ mayWrite }: { mayWrite: boolean }) {
  const { data } = useQuery(reading('/invitations'))
  const [revoking, setRevoking] = useState<{ id: string; email: string } | null>(null)
  const revoke = useMutation({
    mutationFn: (invitationId: string) =>
      call('DELETE', '/invitations/{invitationId}', { params: { invitationId } }),
    onSuccess: () => setRevoking(null),
    onSettled: () => refresh('/invitations'),
  })
  if (!data || data.length === 0) return null
  return (
    <Section title="Invited">
      <Table stacked label="Invitations" head={['Email', 'Role', 'State', <Hidden key="a">Actions</Hidden>]}>
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
                <Button
                  small
                  kind="quiet"
                  aria-label={`Take back the invitation of ${email}`}
                  onClick={() => setRevoking({ id, email })}
                >
                  Take back
                </Button>
              )}
            </td>
          </tr>
        ))}
      </Table>
      {revoking && (
        <Confirm
          title={`Take back the invitation of ${revoking.email}?`}
          action="Take it back"
          pending={revoke.isPending}
          onConfirm={() => revoke.mutate(revoking.id)}
          onClose={() => setRevoking(null)}
        >
          Its link stops working. A new invitation has a new link.
        </Confirm>
      )}
    </Section>
  )
}
