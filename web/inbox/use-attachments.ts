import { useEffect, useRef, useState } from 'react'
import { uploadAttachment } from '../app/api.ts'
import { formatBytes } from '../ui/format.ts'
import { sentenceOf } from '../ui/state.tsx'
import type { Attached } from './drafts.ts'

/** The limits of the service, which rejects anything beyond them. */
const MAX_FILES = 10
const MAX_BYTES = 25 * 1024 * 1024

export type Sending = { key: number; name: string; size: number; share: number; problem: string | null }

type Attachments = {
  sending: Sending[]
  add: (files: File[]) => void
  drop: (key: number) => void
}

/** Uploads files for a reply; each uploaded file is passed to `onAttached`. */
export function useAttachments(
  agentId: string,
  attached: readonly Attached[],
  onAttached: (file: Attached) => void,
): Attachments {
  const [sending, setSending] = useState<Sending[]>([])
  const last = useRef(0)
  const [abort] = useState(() => new Map<number, AbortController>())
  useEffect(
    () => () => {
      for (const one of abort.values()) one.abort()
    },
    [abort],
  )
  const drop = (key: number): void => {
    abort.get(key)?.abort()
    abort.delete(key)
    setSending((all) => all.filter((one) => one.key !== key))
  }
  const change = (key: number, part: Partial<Sending>): void =>
    setSending((all) => all.map((one) => (one.key === key ? { ...one, ...part } : one)))

  const send = async (key: number, file: File): Promise<void> => {
    const controller = new AbortController()
    const { signal } = controller
    abort.set(key, controller)
    try {
      const onProgress = (share: number): void => change(key, { share })
      const { id, name, size } = await uploadAttachment(agentId, file, { onProgress, signal })
      onAttached({ id, name, size })
      drop(key)
    } catch (error) {
      if (!signal.aborted) change(key, { problem: sentenceOf(error) })
    }
  }
  return {
    sending,
    drop,
    add(files) {
      const free = MAX_FILES - attached.length - sending.length
      const added = files.map((file, at): [File, Sending] => [
        file,
        {
          key: ++last.current,
          name: file.name,
          size: file.size,
          share: 0,
          problem: problemOf(file, at, free),
        },
      ])
      setSending((all) => [...all, ...added.map(([, one]) => one)])
      for (const [file, { key, problem }] of added) if (problem === null) void send(key, file)
    },
  }
}

function problemOf({ size }: File, at: number, free: number): string | null {
  if (at >= free) return `A reply holds at most ${MAX_FILES} files.`
  if (size > MAX_BYTES) return `The file is larger than ${formatBytes(MAX_BYTES)}.`
  return size === 0 ? 'The file is empty.' : null
}
