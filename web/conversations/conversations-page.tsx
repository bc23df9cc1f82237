import { useInfiniteQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState } from 'react'
import { SavedSelect } from '../app/saved-select.tsx'
import { useAgentId } from '../app/session.ts'
import { useShortcuts } from '../app/shortcuts.ts'
import { useParameters } from '../app/use-parameters.ts'
import { useSaved } from '../app/use-saved.ts'
import { Ago } from '../ui/ago.tsx'
import { moveByArrow } from '../ui/arrow-rows.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { MessagesSquare, SlidersHorizontal } from '../ui/icons.ts'
import { Badge, useTitle } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import { Conversation } from './conversation.tsx'
import classes from './conversations.module.css'
import { ExportMenu } from './export-menu.tsx'
import type { Filters } from './filters.ts'
import { listConversations } from './list-conversations.ts'
import { SOURCES, sourceName } from './source-names.ts'
import { STATUS_TONES } from './status-tones.ts'

type Search = Filters & { open?: string | undefined }

const POLL_MS = 4_000
const FEEDBACK = [
  ['', 'Any rating'],
  ['negative', 'Rated bad'],
  ['positive', 'Rated good'],
] as const
const SENTIMENTS = [
  ['', 'Any mood'],
  ['negative', 'Negative'],
  ['neutral', 'Neutral'],
  ['positive', 'Positive'],
] as const
/** Lists the conversations of an agent, with search and filters, and shows the selected one. */
export function ConversationsPage() {
  useTitle('Conversations')
  const agentId = useAgentId()
  const { shown, latest, change } = useParameters<Search>()
  const { open, ...filters } = shown
  const list = useInfiniteQuery({
    ...listConversations(agentId, filters),
    // The list refreshes itself as long as only its first page is loaded.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : POLL_MS),
  })
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? []
  const step = (by: number): void => {
    const at = rows.findIndex(({ id }) => id === latest().open)
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))]
    // Back from the conversation that was opened first leads to the list.
    if (next) void change({ open: next.id }, at !== -1)
  }
  useShortcuts([
    { keys: 'j', does: 'Next conversation', group: 'Conversations', run: () => step(1) },
    { keys: 'k', does: 'Conversation before', group: 'Conversations', run: () => step(-1) },
    {
      keys: '/',
      does: 'Search',
      group: 'Conversations',
      run: () => document.querySelector<HTMLInputElement>('input[type=search]')?.focus(),
    },
  ])
  return (
    <div className={`${classes.panes} ${open ? classes.reading : ''}`}>
      {/* On a phone, the open conversation takes the place of the list, but the page keeps its heading. */}
      <h1 className="visually-hidden">Conversations</h1>
      <section className={classes.list} aria-label="Conversations">
        <header className={classes.listHead}>
          <span className={classes.heading} aria-hidden>
            Conversations
          </span>
          {rows.length > 0 && <ExportMenu agentId={agentId} filters={filters} />}
        </header>
        <FilterBar filters={filters} onChange={(part) => change(part, true)} />
        <Loaded of={list} lines={8}>
          {() =>
            rows.length === 0 ? (
              <Empty
                icon={MessagesSquare}
                title={Object.values(filters).some(Boolean) ? 'Nothing matches' : 'No conversation yet'}
              >
                {Object.values(filters).some(Boolean)
                  ? 'Try fewer filters.'
                  : 'What people ask stands here a moment later.'}
              </Empty>
            ) : (
              <Rows
                rows={rows}
                open={open}
                onOpen={(id) => void change({ open: id })}
                onEnd={() => list.hasNextPage && !list.isFetchingNextPage && list.fetchNextPage()}
              />
            )
          }
        </Loaded>
      </section>
      <section className={classes.reader} aria-label="Conversation">
        {open ? (
          <Conversation
            key={open}
            agentId={agentId}
            conversationId={open}
            onBack={() => void change({ open: undefined }, true)}
          />
        ) : (
          <Empty icon={MessagesSquare} title="Choose a conversation">
            <kbd>j</kbd> and <kbd>k</kbd> go through the list.
          </Empty>
        )}
      </section>
    </div>
  )
}

type Row = {
  id: string
  title: string | null
  updatedAt: number
  status: keyof typeof STATUS_TONES
  source: string
  snippet: { highlights: { value: string; isHit: boolean }[] } | null
}
type RowsProps = { rows: Row[]; open: string | undefined; onOpen: (id: string) => void; onEnd: () => void }

function Rows({ rows, open, onOpen, onEnd }: RowsProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 72,
    overscan: 8,
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  const [focused, setFocused] = useState<string | undefined>()
  const shown = items.map(({ index }) => rows[index]?.id)
  const tabStop = [focused, open].find((id) => id !== undefined && shown.includes(id)) ?? shown[0]
  useEffect(() => {
    if (last >= rows.length - 10) onEnd()
  }, [last, rows.length, onEnd])
  return (
    <div ref={scroller} className={classes.scroller}>
      <ul style={{ height: virtual.getTotalSize(), position: 'relative' }} onKeyDown={moveByArrow}>
        {items.map(({ index, start, key }) => {
          const row = rows[index]
          if (!row) return null
          const [tone, label] = STATUS_TONES[row.status]
          return (
            <li
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className={classes.item}
              style={{ transform: `translateY(${start}px)` }}
            >
              <button
                type="button"
                className={classes.row}
                aria-current={row.id === open}
                tabIndex={row.id === tabStop ? 0 : -1}
                onFocus={() => setFocused(row.id)}
                onClick={() => onOpen(row.id)}
              >
                <span className={classes.rowHead}>
                  <strong dir="auto">{row.title ?? 'Untitled'}</strong>
                  <small>
                    <Ago at={row.updatedAt} />
                  </small>
                </span>
                <span className={classes.rowFoot}>
                  <span className={classes.snippet}>
                    {row.snippet
                      ? row.snippet.highlights.map(({ value, isHit }, at) =>
                          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text have no other key
                          isHit ? <mark key={at}>{value}</mark> : value,
                        )
                      : sourceName(row.source)}
                  </span>
                  {row.status !== 'ongoing' && <Badge tone={tone}>{label}</Badge>}
                </span>
              </button>
            </li>
          )
        })}
      </ul>
    </div>
  )
}

const TYPED_MS = 250

function FilterBar({ filters, onChange }: { filters: Filters; onChange: (part: Filters) => Promise<void> }) {
  const [isOpen, setIsOpen] = useState(() => Object.keys(filters).some((name) => name !== 'query'))
  const [text, setText] = useState(filters.query ?? '')
  const latest = useRef(onChange)
  latest.current = onChange
  useEffect(() => {
    if (text === (filters.query ?? '')) return
    const timer = setTimeout(() => void latest.current({ query: text || undefined }), TYPED_MS)
    return () => clearTimeout(timer)
  }, [text, filters.query])
  const set = (name: keyof Filters) => (value: string) => onChange({ [name]: value || undefined })
  const [from, setFrom] = useSaved(filters.startDate ?? '', set('startDate'))
  const [to, setTo] = useSaved(filters.endDate ?? '', set('endDate'))
  return (
    <div className={classes.filters}>
      <div className={classes.searching}>
        <TextField
          label="Search"
          hideLabel
          type="search"
          placeholder="Search what was said"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <Button icon={SlidersHorizontal} aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          Filter
        </Button>
      </div>
      {isOpen && (
        <div className={classes.choices}>
          <SavedSelect
            label="Channel"
            options={[['', 'Every channel'], ...SOURCES]}
            value={filters.source ?? ''}
            onSave={set('source')}
          />
          <SavedSelect
            label="Rating"
            options={FEEDBACK}
            value={filters.feedback ?? ''}
            onSave={set('feedback')}
          />
          <SavedSelect
            label="Mood"
            options={SENTIMENTS}
            value={filters.sentiment ?? ''}
            onSave={set('sentiment')}
          />
          <SavedSelect
            label="Handed over"
            options={[
              ['', 'All'],
              ['true', 'Handed to people'],
            ]}
            value={filters.escalated ?? ''}
            onSave={set('escalated')}
          />
          <TextField label="From" type="date" value={from} onChange={({ target }) => setFrom(target.value)} />
          <TextField label="To" type="date" value={to} onChange={({ target }) => setTo(target.value)} />
        </div>
      )}
    </div>
  )
}
