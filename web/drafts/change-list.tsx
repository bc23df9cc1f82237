import type { OutputOf } from '../app/api.ts'
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
export const ChangeList = ({ changes }: { changes: readonly Change[] }) => (
  <ul className={classes.changes}>
    {changes.slice(0, MAX_SHOWN).map((change) => {
      const [before, after] = [textOf(change, change.before), textOf(change, change.after)]
      return (
        <li key={`${change.id} ${change.field}`}>
          <h3 dir="auto">{titleOf(change)}</h3>
          {WRITTEN.includes(change.field) ? (
            <Diff before={before} after={after} />
          ) : (
            <p>
              <del>{before}</del> <span aria-hidden>→</span> <ins>{after}</ins>
            </p>
          )}
        </li>
      )
    })}
    {changes.length > MAX_SHOWN && <li>And {plural(changes.length - MAX_SHOWN, 'more change')}.</li>}
  </ul>
)
