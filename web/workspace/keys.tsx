import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type OutputOf, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { formatTime } from '../ui/format.ts'
import { Hidden } from '../ui/hidden.tsx'
import { KeyRound, Plus } from '../ui/icons.ts'
import { Badge, Section, Table } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import { MakeKey } from './make-key.tsx'
import { RevokeKeysBy } from './revoke-keys-by.tsx'
import classes from './workspace.module.css'

type Key = OutputOf<'GET', '/keys'>[number]

const refresh = () => fetchAgain('/keys')

export function Keys() {
  const can = useCan()
  const keys = useQuery(reading('/keys'))
  const members = useQuery(reading('/members')).data
  const [isMaking, setIsMaking] = useState(false)
  const [revoking, setRevoking] = useState<{ id: string; name: string } | null>(null)
  const [leftBy, setLeftBy] = useState<string | null>(null)
  const mayWrite = can('keys:write')
  const revoke = useMutation({
    mutationFn: (keyId: string) => call('DELETE', '/keys/{keyId}', { params: { keyId } }),
    onSuccess: () => {
      tell('done', 'The key is refused from now on.')
      setRevoking(null)
    },
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
              stacked
              label="API keys"
              head={[
                'Name',
                'Permissions',
                'Made by',
                'Last used',
                'Expires',
                <Hidden key="a">Actions</Hidden>,
              ]}
            >
              {data.map((one) => (
                <KeyRow
                  key={one.id}
                  of={one}
                  keys={data}
                  members={members}
                  mayWrite={mayWrite}
                  onRevoke={() => setRevoking(one)}
                  onRevokeBy={setLeftBy}
                />
              ))}
            </Table>
          )
        }
      </Loaded>
      {revoking && (
        <Confirm
          title={`Revoke ${revoking.name}?`}
          action="Revoke for good"
          pending={revoke.isPending}
          onConfirm={() => revoke.mutate(revoking.id)}
          onClose={() => setRevoking(null)}
        >
          Programs that use the key are refused from then on. This cannot be undone.
        </Confirm>
      )}
      {leftBy && <RevokeKeysBy createdBy={leftBy} name="a former member" onClose={() => setLeftBy(null)} />}
      {isMaking && <MakeKey onClose={() => setIsMaking(false)} />}
    </Section>
  )
}

type KeyRowProps = {
  of: Key
  keys: Key[]
  members: Members | undefined
  mayWrite: boolean
  onRevoke: () => void
  onRevokeBy: (maker: string | null) => void
}

function KeyRow({ of: key, keys, members, mayWrite, onRevoke, onRevokeBy }: KeyRowProps) {
  const { name, prefix, state, scopes, lastUsedAt, expiresAt, createdBy } = key
  return (
    <tr>
      <td>
        <strong className={classes.strong}>{name}</strong>
        <p className={classes.faint}>{prefix}…</p>
      </td>
      <td className={classes.scopes}>{scopes?.join(', ') ?? 'Everything'}</td>
      <td>
        {makerOf(createdBy, keys, members)}
        {mayWrite && state === 'active' && isFormer(createdBy, members) && (
          <Button small kind="quiet" onClick={() => onRevokeBy(createdBy)}>
            Revoke all of theirs
          </Button>
        )}
      </td>
      <td className={classes.nowrap}>{lastUsedAt ? <Ago at={lastUsedAt} /> : 'Never'}</td>
      <td className={classes.nowrap}>
        {state === 'active' ? (
          expiresAt ? (
            formatTime(expiresAt)
          ) : (
            'Never'
          )
        ) : (
          <Badge tone="warning">{state}</Badge>
        )}
      </td>
      <td className={classes.end}>
        {mayWrite && state === 'active' && (
          <Button small kind="quiet" aria-label={`Revoke ${name}`} onClick={onRevoke}>
            Revoke
          </Button>
        )}
      </td>
    </tr>
  )
}

type Members = OutputOf<'GET', '/members'>

/** Returns whether the maker is a member who has been removed; while the members are not known, nobody is. */
const isFormer = (createdBy: string | null, members: Members | undefined): boolean =>
  createdBy?.startsWith('member:') === true &&
  members !== undefined &&
  !members.some(({ id }) => createdBy === `member:${id}`)

/** Returns who made a key, in words. */
function makerOf(createdBy: string | null, keys: Key[], members: Members | undefined): string {
  if (createdBy === null) return 'Unknown'
  if (createdBy === 'operator') return 'The operator'
  const key = keys.find(({ id }) => createdBy === `key:${id}`)
  if (key) return `The key ${key.name}`
  if (isFormer(createdBy, members)) return 'A former member'
  return members?.find(({ id }) => createdBy === `member:${id}`)?.name ?? 'A member'
}
