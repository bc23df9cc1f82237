import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, type RefObject, useId, useState } from 'react'
import { flushSync } from 'react-dom'
import { type OutputOf, reading } from '../app/api.ts'
import classes from './composer.module.css'

const MAX_SHOWN = 6
/** Matches an @ at the beginning of a word and the text between it and the cursor. */
const BEGUN = /(?:^|[^\p{L}\p{N}_.+-])@([\p{L}\p{N}_.-]{0,40}(?: [\p{L}\p{N}_.-]{0,40})?)$/u

type MentionFieldProps = {
  agentId: string
  /** Whether an @ suggests members. */
  mentions: boolean
  ref: RefObject<HTMLTextAreaElement | null>
  label: string
  placeholder: string
  readOnly: boolean
  value: string
  onChange: (text: string) => void
  onKeyDown: (event: KeyboardEvent) => void
}

/** A text field that suggests members of the team after an @. */
export function MentionField(props: MentionFieldProps) {
  const { agentId, mentions, ref, label, placeholder, readOnly, value, onChange, onKeyDown } = props
  const listId = useId()
  const [cursor, setCursor] = useState<number | null>(null)
  const [at, setAt] = useState(0)
  const { data } = useQuery({
    ...reading('/agents/{agentId}/helpdesk/members', { params: { agentId } }),
    enabled: mentions,
  })
  const typed = mentions && cursor !== null ? BEGUN.exec(value.slice(0, cursor))?.[1] : undefined
  const found =
    typed === undefined
      ? []
      : (data ?? [])
          .filter(({ name, email }) =>
            [name, email, ...name.split(' ')].some((word) =>
              word.toLowerCase().startsWith(typed.toLowerCase()),
            ),
          )
          .slice(0, MAX_SHOWN)
  const chosen = Math.min(at, found.length - 1)

  const choose = (name: string | undefined): void => {
    if (name === undefined || cursor === null || typed === undefined) return
    const start = cursor - typed.length
    const end = start + name.length + 1
    flushSync(() => {
      onChange(`${value.slice(0, start)}${name} ${value.slice(cursor)}`)
      setCursor(null)
    })
    ref.current?.setSelectionRange(end, end)
  }
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (found.length === 0 || event.metaKey || event.ctrlKey) {
      onKeyDown(event)
      return
    }
    if (step) setAt((chosen + step + found.length) % found.length)
    else if (event.key === 'Enter' || event.key === 'Tab') choose(found[chosen]?.name)
    else if (event.key === 'Escape') setCursor(null)
    else return
    event.preventDefault()
  }
  const isOpen = found.length > 0
  return (
    <div className={classes.mentioning}>
      <textarea
        ref={ref}
        aria-label={label}
        placeholder={placeholder}
        rows={3}
        dir="auto"
        readOnly={readOnly}
        aria-controls={isOpen ? listId : undefined}
        aria-activedescendant={isOpen ? `${listId}-${chosen}` : undefined}
        value={value}
        onChange={({ target }) => {
          setCursor(target.selectionStart)
          setAt(0)
          onChange(target.value)
        }}
        onKeyDown={onKey}
        onBlur={() => setCursor(null)}
      />
      {isOpen && <Suggestions id={listId} members={found} chosen={chosen} onChoose={choose} />}
    </div>
  )
}

type SuggestionsProps = {
  id: string
  members: OutputOf<'GET', '/agents/{agentId}/helpdesk/members'>
  chosen: number
  onChoose: (name: string) => void
}

function Suggestions({ id: listId, members, chosen, onChoose }: SuggestionsProps) {
  return (
    <div id={listId} role="listbox" aria-label="Members" className={classes.suggestions}>
      {members.map(({ id, name, email }, index) => (
        <button
          key={id}
          id={`${listId}-${index}`}
          type="button"
          role="option"
          tabIndex={-1}
          aria-selected={index === chosen}
          // Keeps the focus in the field.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onChoose(name)}
        >
          {name} <small>{email}</small>
        </button>
      ))}
    </div>
  )
}
