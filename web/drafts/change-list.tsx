import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type OutputOf, reading } from '../app/api.ts'
import { Diff } from '../instructions/diff.tsx'
import { plural } from '../ui/format.ts'
import classes from './drafts.module.css'

type Change = OutputOf<'GET', '/agents/{agentId}/draft/changes'>['changes'][number]

const FIELDS: Record<Change['field'], string> = {
  instructions: 'Instructions',
  channelInstructions: 'Instructions for channels',
  model: 'Model',
  temp: 'Temperature',
  enabled: 'State',
  description: 'When it is used',
  channels: 'Channels',
  trigger: 'Situation',
  steps: 'Steps',
  isIncluded: 'Answers',
}

const KINDS = { action: 'Action', procedure: 'Procedure', source: 'Source' }

/** Returns the words for what a change is about. */
export function titleOf({ what, name, field }: Change): string {
  if (what === 'agent') return FIELDS[field]
  const named = `${KINDS[what]} ${name ?? 'without a name'}`
  return what === 'source' ? named : `${named}: ${FIELDS[field].toLowerCase()}`
}

type Step = { instruction: string; action: string | null }

function textOf({ field }: Change, value: unknown): string {
  switch (field) {
    case 'enabled':
      return value === true ? 'on' : 'off'
    case 'isIncluded':
      return value === true ? 'used in answers' : 'left out of answers'
    case 'channels':
      return Array.isArray(value) ? value.join(', ') : 'everywhere'
    case 'steps':
      return (value as Step[])
        .map(({ instruction, action }, at) => `${at + 1}. ${instruction}${action ? ` (uses ${action})` : ''}`)
        .join('\n')
    case 'channelInstructions':
      return value === null ? '' : JSON.stringify(value, null, 2)
    default:
      return String(value)
  }
}

const WRITTEN: readonly Change['field'][] = [
  'instructions',
  'channelInstructions',
  'description',
  'trigger',
  'steps',
]

/** Solved tickets alone may be thousands of sources. */
const MAX_SHOWN = 100

/** Shows each change with its text before and after. */
export function ChangeList({ agentId, changes }: { agentId: string; changes: readonly Change[] }) {
  const replaced = replacements(changes)
  const hidden = new Set(replaced.values())
  const shown = changes.filter((change) => !hidden.has(change))
  return (
    <ul className={classes.changes}>
      {shown.slice(0, MAX_SHOWN).map((change) => (
        <li key={`${change.id} ${change.field}`}>
          <ShownChange agentId={agentId} change={change} replaced={replaced.get(change)} />
        </li>
      ))}
      {shown.length > MAX_SHOWN && <li>And {plural(shown.length - MAX_SHOWN, 'more change')}.</li>}
    </ul>
  )
}

/** Returns the source that each new one replaces: one with its name that is left out. */
function replacements(changes: readonly Change[]): Map<Change, Change> {
  const sources = changes.filter(({ what }) => what === 'source')
  const left = sources.filter(({ after }) => after === false)
  const pairs = new Map<Change, Change>()
  for (const change of sources.filter(({ after }) => after === true)) {
    const at = left.findIndex(({ name }) => name === change.name)
    const [one] = at < 0 ? [] : left.splice(at, 1)
    if (one) pairs.set(change, one)
  }
  return pairs
}

type ShownProps = { agentId: string; change: Change; replaced: Change | undefined }

function ShownChange({ agentId, change, replaced }: ShownProps) {
  const [before, after] = [textOf(change, change.before), textOf(change, change.after)]
  const isSource = change.what === 'source' && change.id !== null
  return (
    <>
      <h3 dir="auto">
        {titleOf(change)}
        {replaced && ': replaced'}
      </h3>
      {WRITTEN.includes(change.field) && <Diff before={before} after={after} />}
      {!WRITTEN.includes(change.field) && !replaced && (
        <p>
          <del>{before}</del> <span aria-hidden>→</span> <ins>{after}</ins>
        </p>
      )}
      {isSource && (
        <SourceDiff
          agentId={agentId}
          before={replaced?.id ?? (change.after === true ? null : change.id)}
          after={change.after === true ? change.id : null}
        />
      )}
    </>
  )
}

const SOURCE = '/agents/{agentId}/sources/{sourceId}'

type SourceDiffProps = { agentId: string; before: string | null; after: string | null }

/** Shows what is written in sources, on request if nothing is compared. */
function SourceDiff({ agentId, before, after }: SourceDiffProps) {
  const isCompared = before !== null && after !== null
  const [isOpen, setIsOpen] = useState(false)
  const [old, now] = [
    useWritten(agentId, before, isCompared || isOpen),
    useWritten(agentId, after, isCompared || isOpen),
  ]
  const isWritten = Boolean(old) || Boolean(now)
  const diff =
    old !== undefined &&
    now !== undefined &&
    (isWritten ? (
      <Diff before={old} after={now} />
    ) : (
      <p className={classes.faint}>It was not written here.</p>
    ))
  if (isCompared) return diff
  return (
    <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>Its text</summary>
      {diff}
    </details>
  )
}

/** Returns the text of a source as it was written, or undefined while it is loading. */
function useWritten(agentId: string, sourceId: string | null, enabled: boolean): string | undefined {
  const { data } = useQuery({
    ...reading(`${SOURCE}/content`, { params: { agentId, sourceId: sourceId ?? '' } }),
    enabled: enabled && sourceId !== null,
  })
  if (sourceId === null) return ''
  return data && [data.content, data.questions?.join('\n'), data.answer].filter(Boolean).join('\n\n')
}
