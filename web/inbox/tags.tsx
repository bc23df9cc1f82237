import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { call, reading } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { useSaved } from '../app/use-saved.ts'
import { Button } from '../ui/button.tsx'
import { Check, TextField } from '../ui/field.tsx'
import classes from './ticket-side.module.css'
import { refresh } from './use-live-desk.ts'

const ALL = '/agents/{agentId}/helpdesk/tags'
const OWN = '/agents/{agentId}/helpdesk/tickets/{ticketNumber}/tags'
const COLORS = ['#0f766e', '#b45309', '#1d4ed8', '#be123c', '#6d28d9', '#4d7c0f']

type TagsProps = { agentId: string; ticketNumber: number; disabled: boolean }

/** Sets the tags of a ticket. New tags are also created here. */
export function Tags({ agentId, ticketNumber, disabled }: TagsProps) {
  const params = { agentId, ticketNumber }
  const [isNaming, setIsNaming] = useState(false)
  const all = useQuery(reading(ALL, { params: { agentId } })).data ?? []
  const own = useQuery(reading(OWN, { params })).data
  // The tags are stored together, so those of a ticket must be known before one of them is changed.
  const isLocked = disabled || !own
  const set = useMutation({
    scope: { id: `${OWN} ${agentId} ${ticketNumber}` },
    mutationFn: (tagIds: string[]) => call('PUT', OWN, { params, body: { tagIds } }),
    onSuccess: (tags) => queries.setQueryData(reading(OWN, { params }).queryKey, tags),
  })
  const [ids, choose] = useSaved(own?.map(({ id }) => id) ?? [], set.mutateAsync)
  const make = useMutation({
    mutationFn: (name: string) =>
      call('POST', ALL, {
        params: { agentId },
        body: { name, color: COLORS[all.length % COLORS.length] ?? '#0f766e' },
      }),
    onSuccess: ({ id }) => {
      setIsNaming(false)
      refresh(ALL)
      choose([...ids, id])
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const name = String(new FormData(event.currentTarget).get('name')).trim()
    if (name) make.mutate(name)
  }
  if (disabled && all.length === 0) return null
  return (
    <fieldset className={classes.tags}>
      <legend>Tags</legend>
      {all.map(({ id, name }) => (
        <Check
          key={id}
          label={name}
          disabled={isLocked}
          checked={ids.includes(id)}
          onChange={({ target }) => choose(target.checked ? [...ids, id] : ids.filter((one) => one !== id))}
        />
      ))}
      {isNaming ? (
        <form className={classes.newTag} onSubmit={submit}>
          <TextField label="Name of the tag" hideLabel name="name" maxLength={100} required autoFocus />
          <Button small type="submit" pending={make.isPending}>
            Add
          </Button>
        </form>
      ) : (
        !disabled && (
          <Button small kind="quiet" disabled={isLocked} onClick={() => setIsNaming(true)}>
            New tag
          </Button>
        )
      )}
    </fieldset>
  )
}
