import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Chat } from './chat.ts'
import { Icon } from './icon.tsx'
import { IconButton } from './icon-button.tsx'
import type { State } from './state.ts'
import { word } from './words.ts'

type Props = { chat: Chat; state: State; field: RefObject<HTMLTextAreaElement | null> }

/** The files of the next message, above the field for typing. */
export function PickedFiles({ chat, state: { files, fileProblem, fileNews }, field }: Props) {
  const remove = (key: string): void => {
    chat.files.remove(key)
    field.current?.focus()
  }
  return (
    <>
      <p class="visually-hidden" role="status">
        {fileNews}
      </p>
      {fileProblem && (
        <p class="composer-problem" role="alert" dir="auto">
          {fileProblem}
        </p>
      )}
      {files.length > 0 && (
        <ul class="picked">
          {files.map(({ key, name, sent }) => (
            <li key={key} aria-busy={sent === null}>
              {sent ? <Icon name="file" /> : <i class="turning" aria-hidden="true" />}
              <span class="file-name" dir="auto">
                {sent ? name : word('attaching', name)}
              </span>
              <IconButton icon="close" label={word('removeFile', name)} onClick={() => remove(key)} />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** A button that opens the file picker; on phones, the picker also offers photos and the camera. */
export function AttachButton({ chat, field }: Omit<Props, 'state'>) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        tabIndex={-1}
        onChange={({ currentTarget }) => {
          chat.files.add([...(currentTarget.files ?? [])])
          // Clearing the value allows the same file to be picked again.
          currentTarget.value = ''
          field.current?.focus()
        }}
      />
      <IconButton icon="attach" label={word('attach')} onClick={() => input.current?.click()} />
    </>
  )
}

/** Accepts files dropped anywhere on the chat. Returns true while files are dragged over it. */
export function useDroppedFiles(chat: Chat, isOn: boolean): boolean {
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    if (!isOn) return
    const end = new AbortController()
    const { signal } = end
    const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') === true
    document.addEventListener(
      'dragover',
      (event) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        setOver(true)
      },
      { signal },
    )
    document.addEventListener('dragleave', ({ relatedTarget }) => relatedTarget ?? setOver(false), { signal })
    document.addEventListener(
      'drop',
      (event) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        setOver(false)
        chat.files.add([...(event.dataTransfer?.files ?? [])])
      },
      { signal },
    )
    return () => end.abort()
  }, [chat, isOn])
  return isOver
}
