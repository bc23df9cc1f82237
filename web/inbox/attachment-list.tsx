import { IconButton } from '../ui/button.tsx'
import { formatBytes } from '../ui/format.ts'
import { CircleAlert, Paperclip, X } from '../ui/icons.ts'
import { Bar } from '../ui/page.tsx'
import classes from './composer.module.css'
import type { Attached } from './drafts.ts'
import type { Sending } from './use-attachments.ts'

type AttachmentListProps = {
  attached: readonly Attached[]
  sending: Sending[]
  onRemove: (id: string) => void
  onDrop: (key: number) => void
}

/** Lists the files of a reply: attached, uploading and rejected ones. */
export function AttachmentList({ attached, sending, onRemove, onDrop }: AttachmentListProps) {
  if (attached.length + sending.length === 0) return null
  return (
    <ul className={classes.attachments} aria-label="Files of the reply" aria-live="polite">
      {attached.map(({ id, name, size }) => (
        <li key={id}>
          <Paperclip size={16} aria-hidden />
          <span>
            {name} <small>{formatBytes(size)}</small>
          </span>
          <IconButton icon={X} label={`Remove ${name}`} onClick={() => onRemove(id)} />
        </li>
      ))}
      {sending.map(({ key, name, size, share, problem }) => (
        <li key={key}>
          {problem ? <CircleAlert size={16} aria-label="Failed" /> : <Paperclip size={16} aria-hidden />}
          <span>
            {name} <small>{formatBytes(size)}</small>
            {problem ? <em>{problem}</em> : <Bar share={share} label={`${name} is being sent`} />}
          </span>
          <IconButton icon={X} label={`Remove ${name}`} onClick={() => onDrop(key)} />
        </li>
      ))}
    </ul>
  )
}
