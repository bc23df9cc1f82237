import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { reading } from '../app/api.ts'
import { useMember } from '../app/session.ts'
import { TextField } from '../ui/field.tsx'
import { focusAround } from '../ui/focus-around.ts'
import classes from './inbox.module.css'
import type { ListSearch } from './use-tickets.ts'
import { filterOf, VIEWS, type View } from './views.ts'

const TYPED_MS = 250

type FiltersProps = {
  agentId: string
  search: ListSearch
  onChange: (part: ListSearch & { ticket?: undefined }, replace?: boolean) => Promise<void>
}

/** Selects which tickets are listed: those of a view, or the results of a search. */
export function TicketFilters({ agentId, search, onChange }: FiltersProps) {
  const { view = 'open', query = '', urgent, oldest } = search
  const [text, setText] = useState(query)
  const latest = useRef(onChange)
  latest.current = onChange
  useEffect(() => {
    if (text.trim() === query) return
    const timer = setTimeout(() => void latest.current({ query: text.trim() || undefined }, true), TYPED_MS)
    return () => clearTimeout(timer)
  }, [text, query])
  return (
    <div className={classes.filters}>
      <nav className={`${classes.choices} ${classes.views}`} aria-label="Views">
        {VIEWS.map(([id, label]) => (
          <button
            key={id}
            type="button"
            aria-pressed={view === id && !query}
            onClick={() => {
              setText('')
              void onChange({ view: id, query: undefined, ticket: undefined })
            }}
          >
            {label} {id !== 'solved' && id !== 'spam' && <Count agentId={agentId} view={id} />}
          </button>
        ))}
      </nav>
      <TextField
        label="Search tickets"
        hideLabel
        type="search"
        placeholder="Search tickets"
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') setText('')
          if (event.key === 'Escape' || event.key === 'Enter') focusAround(event.currentTarget)
        }}
      />
      <div className={`${classes.choices} ${classes.narrow}`}>
        <button
          type="button"
          aria-pressed={Boolean(urgent)}
          disabled={Boolean(query)}
          onClick={() => void onChange({ urgent: urgent ? undefined : 'true' }, true)}
        >
          Urgent and high
        </button>
        <button
          type="button"
          aria-pressed={Boolean(oldest)}
          disabled={Boolean(query)}
          onClick={() => void onChange({ oldest: oldest ? undefined : 'true' }, true)}
        >
          Longest waiting first
        </button>
      </div>
    </div>
  )
}

function Count({ agentId, view }: { agentId: string; view: View }) {
  const member = useMember()
  const { data } = useQuery(
    reading('/agents/{agentId}/helpdesk/tickets', {
      params: { agentId },
      query: { limit: 1, includeTotal: true, ...filterOf(view, member?.id) },
    }),
  )
  const total = data?.pagination.total
  return total ? <small>{total}</small> : null
}
