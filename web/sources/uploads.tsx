import { useRef, useState } from 'react'
import { uploadSource } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { IconButton } from '../ui/button.tsx'
import { formatBytes } from '../ui/format.ts'
import { CircleAlert, CircleCheck, X } from '../ui/icons.ts'
import { Bar } from '../ui/page.tsx'
import { sentenceOf } from '../ui/state.tsx'
import classes from './sources.module.css'

type Upload = {
  id: number
  file: File
  share: number
  state: 'waiting' | 'sent' | 'failed'
  problem?: string
}
type Uploads = { list: Upload[]; add(files: File[]): void; dismiss(id: number): void }

const AT_ONCE = 3

/** Uploads up to three files at a time. A rejected file does not delay the others. */
export function useUploads(agentId: string): Uploads {
  const [list, setList] = useState<Upload[]>([])
  const waiting = useRef<Upload[]>([])
  const running = useRef(0)
  const last = useRef(0)
  const change = (id: number, part: Partial<Upload>) =>
    setList((all) => all.map((one) => (one.id === id ? { ...one, ...part } : one)))

  const next = async (): Promise<void> => {
    const upload = waiting.current.shift()
    if (!upload) return
    running.current += 1
    try {
      await uploadSource(agentId, upload.file, { onProgress: (share) => change(upload.id, { share }) })
      change(upload.id, { state: 'sent', share: 1 })
    } catch (error) {
      change(upload.id, { state: 'failed', problem: sentenceOf(error) })
    }
    running.current -= 1
    void fetchAgain('/agents/{agentId}/sources', '/agents/{agentId}/sources/summary')
    void next()
  }

  return {
    list,
    add(files) {
      const added = files.map((file): Upload => ({ id: ++last.current, file, share: 0, state: 'waiting' }))
      setList((all) => [...all.filter(({ state }) => state !== 'sent'), ...added])
      waiting.current.push(...added)
      while (running.current < AT_ONCE && waiting.current.length > 0) void next()
    },
    dismiss: (id) => setList((all) => all.filter((one) => one.id !== id)),
  }
}

export function UploadList({ uploads: { list, dismiss } }: { uploads: Uploads }) {
  if (list.length === 0) return null
  return (
    <ul className={classes.uploads} aria-label="Uploads" aria-live="polite">
      {list.map(({ id, file, share, state, problem }) => (
        <li key={id}>
          {state === 'failed' ? (
            <CircleAlert size={18} className={classes.bad} aria-label="Failed" />
          ) : (
            <CircleCheck size={18} className={state === 'sent' ? classes.good : classes.faint} aria-hidden />
          )}
          <div className={classes.upload}>
            <span>
              {file.name} <small>{formatBytes(file.size)}</small>
            </span>
            {state === 'waiting' && <Bar share={share} label={`${file.name} is being sent`} />}
            {problem && <p className={classes.error}>{problem}</p>}
          </div>
          {state !== 'waiting' && (
            <IconButton icon={X} label={`Dismiss ${file.name}`} onClick={() => dismiss(id)} />
          )}
        </li>
      ))}
    </ul>
  )
}
