import { BookText, FileText, Globe, MessageCircleQuestion, NotebookPen, Plus, Ticket } from '../ui/icons.ts'
import { Menu } from '../ui/menu.tsx'
import { AddSource, type NewKind } from './add-source.tsx'
import { ConnectedPages } from './connected-pages.tsx'
import { SolvedTickets } from './solved-tickets.tsx'
import classes from './sources.module.css'

/** What is being added; `pages` and `tickets` come from other systems. */
export type Adding = NewKind | 'pages' | 'tickets'

/** The dialog that adds a source of this kind. */
export function Add({ adding, ...rest }: { adding: Adding; agentId: string; onClose: () => void }) {
  if (adding === 'pages') return <ConnectedPages {...rest} />
  if (adding === 'tickets') return <SolvedTickets {...rest} />
  return <AddSource kind={adding} {...rest} />
}

/** Offers every kind of source. */
export function AddMenu({ onAdd, onFiles }: { onAdd: (kind: Adding) => void; onFiles: () => void }) {
  return (
    <Menu
      label="Add a source"
      className={classes.add}
      isNamed
      choices={[
        { id: 'files', label: 'Files', hint: 'PDF, Word, Excel, text, …', icon: FileText, onChoose: onFiles },
        {
          id: 'link',
          label: 'Website',
          hint: 'One page or all of them',
          icon: Globe,
          onChoose: () => onAdd('link'),
        },
        {
          id: 'qna',
          label: 'Question and answer',
          hint: 'Said word for word',
          icon: MessageCircleQuestion,
          onChoose: () => onAdd('qna'),
        },
        {
          id: 'text',
          label: 'Text',
          hint: 'Written or pasted',
          icon: NotebookPen,
          onChoose: () => onAdd('text'),
        },
        {
          id: 'pages',
          label: 'Pages of Notion',
          hint: 'Kept current every week',
          icon: BookText,
          onChoose: () => onAdd('pages'),
        },
        {
          id: 'tickets',
          label: 'Solved tickets',
          hint: 'What your team replied',
          icon: Ticket,
          onChoose: () => onAdd('tickets'),
        },
      ]}
    >
      <Plus size={16} aria-hidden /> Add a source
    </Menu>
  )
}
