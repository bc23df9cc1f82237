import { csvRow } from '../../server/platform/text/rows/csv-row.ts'
import { exporting } from '../app/api.ts'
import { asJsonLine, collect, saveFile } from '../app/save-file.ts'
import { useMutation } from '../app/use-mutation.ts'
import { buttonClass } from '../ui/button.tsx'
import { dateOf, plural } from '../ui/format.ts'
import { Braces, Download, Sheet } from '../ui/icons.ts'
import { Menu } from '../ui/menu.tsx'
import { tell } from '../ui/toast.tsx'
import classes from './conversations.module.css'
import type { Filters } from './filters.ts'
import { speakerOf } from './message-view.tsx'
import { sourceName } from './source-names.ts'
import { STATUS_TONES } from './status-tones.ts'

type Part = { type: string; text?: string }
type Line =
  | { type: 'end'; conversations: number }
  | {
      type: 'conversation'
      id: string
      title: string | null
      source: string
      status: keyof typeof STATUS_TONES
      userId: string | null
      messages: {
        id: string
        role: string
        createdAt: number
        feedback: string | null
        parts: Part[]
        metadata?: { author?: { name?: string | null } }
      }[]
    }

const COLUMNS = [
  'Conversation',
  'Title',
  'Channel',
  'State',
  'User',
  'Message',
  'Speaker',
  'Time',
  'Text',
  'Rating',
]

const RATINGS: Record<string, string> = { positive: 'Good', negative: 'Bad' }

/** Exports the filtered conversations as a table or as lines of JSON. */
export function ExportMenu({ agentId, filters }: { agentId: string; filters: Filters }) {
  const save = useMutation({
    mutationFn: async (format: 'csv' | 'ndjson') => {
      let count = 0
      const lines = exporting('GET', '/agents/{agentId}/conversations/search/export', {
        params: { agentId },
        query: filters,
      })
      const write = format === 'csv' ? rowsOf : asJsonLine
      const parts = await collect<Line>(lines, (line) => {
        if (line.type === 'conversation') count++
        return write(line)
      })
      // The byte order mark makes spreadsheets read the text as Unicode.
      const head = format === 'csv' ? [`\uFEFF${csvRow(COLUMNS)}`] : []
      saveFile(
        `conversations.${format}`,
        [...head, ...parts],
        format === 'csv' ? 'text/csv' : 'application/x-ndjson',
      )
      return count
    },
    onSuccess: (count) => tell('done', `${plural(count, 'conversation')} exported.`),
  })
  return (
    <Menu
      label="Export what is listed"
      className={`${buttonClass('secondary', true)} ${classes.export}`}
      choices={[
        {
          id: 'csv',
          label: 'Table (CSV)',
          hint: 'A row for each message',
          icon: Sheet,
          onChoose: () => save.mutate('csv'),
        },
        {
          id: 'ndjson',
          label: 'Lines of JSON',
          hint: 'A line for each conversation',
          icon: Braces,
          onChoose: () => save.mutate('ndjson'),
        },
      ]}
    >
      <Download size={16} aria-hidden /> {save.isPending ? 'Exporting …' : 'Export'}
    </Menu>
  )
}

/** Fills the columns of the table in the words of the page, and the ids for programs. */
function rowsOf(line: Line): string {
  if (line.type === 'end') return ''
  const own = [line.id, line.title, sourceName(line.source), STATUS_TONES[line.status][1], line.userId]
  if (line.messages.length === 0) return csvRow(own)
  return line.messages
    .map((message) => {
      const { id, createdAt, parts, feedback } = message
      const text = parts.flatMap((part) => (part.type === 'text' ? [part.text ?? ''] : [])).join('\n\n')
      const rating = feedback && RATINGS[feedback]
      return csvRow([...own, id, speakerOf(message), dateOf(createdAt).toISOString(), text, rating])
    })
    .join('')
}
