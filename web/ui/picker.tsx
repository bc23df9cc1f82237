import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import type { LucideIcon } from './icon.tsx'
import classes from './picker.module.css'

export type Entry = { id: string; label: string; group: string; icon: LucideIcon; run: () => void }

type PickerProps = {
  title: string
  /** The accessible name of the field. */
  label: string
  listLabel: string
  /** Undefined while they are being loaded. */
  entries: Entry[] | undefined
  /** Entries that a search has found for the text. They are listed after those whose name matches. */
  found?: Entry[]
  isSearching?: boolean
  onText?: (text: string) => void
  onClose: () => void
}

function named(entries: Entry[], text: string): Entry[] {
  const words = text.toLowerCase().split(/\s+/)
  return entries.filter((entry) =>
    words.every((word) => `${entry.group} ${entry.label}`.toLowerCase().includes(word)),
  )
}

/**
 * A dialog that finds one of many entries by a few letters of its name. It accepts input from the first key on, even
 * while the entries are being loaded.
 */
export function Picker({
  title,
  label,
  listLabel,
  entries,
  found: searched = [],
  isSearching = false,
  onText,
  onClose,
}: PickerProps) {
  const dialog = useModal()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  /** Enter was pressed before there was an entry. */
  const [isDecided, setIsDecided] = useState(false)
  const listId = useId()
  const found = [...named(entries ?? [], text), ...searched]
  const isReady = entries !== undefined && !isSearching
  const chosen = Math.min(at, found.length - 1)
  const run = (entry: Entry | undefined): void => {
    if (!entry) return
    onClose()
    entry.run()
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, when the entries have come
  useEffect(() => {
    if (!isReady || !isDecided) return
    setIsDecided(false)
    run(found[chosen])
  }, [isReady, isDecided])
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) setAt((chosen + step + found.length) % Math.max(1, found.length))
    else if (event.key !== 'Enter') return
    else if (isReady || (entries && found[chosen])) run(found[chosen])
    else setIsDecided(true)
    event.preventDefault()
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it
    <dialog
      ref={dialog}
      aria-label={title}
      className={classes.picker}
      onClose={onClose}
      // A click outside hits the dialog element itself and none of its children.
      onClick={({ target, currentTarget }) => target === currentTarget && onClose()}
    >
      <input
        className={classes.input}
        role="combobox"
        aria-label={label}
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={found[chosen] && `${listId}-${chosen}`}
        placeholder={label}
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          onText?.(target.value)
          setAt(0)
          setIsDecided(false)
        }}
        onKeyDown={onKeyDown}
      />
      <Options
        id={listId}
        label={listLabel}
        entries={found}
        chosen={chosen}
        isBusy={!isReady}
        onPoint={setAt}
        onRun={run}
      />
      {found.length === 0 && <p className={classes.none}>{noneOf(isReady, entries !== undefined)}</p>}
    </dialog>
  )
}

type OptionsProps = {
  id: string
  label: string
  entries: Entry[]
  chosen: number
  isBusy: boolean
  onPoint: (at: number) => void
  onRun: (entry: Entry) => void
}

/** The field keeps the focus and refers to the selected entry (`aria-activedescendant`). */
function Options({ id, label, entries, chosen, isBusy, onPoint, onRun }: OptionsProps) {
  return (
    <div id={id} role="listbox" aria-label={label} aria-busy={isBusy} className={classes.list}>
      {entries.map((entry, index) => (
        <button
          type="button"
          tabIndex={-1}
          key={entry.id}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === chosen}
          className={classes.option}
          onClick={() => onRun(entry)}
          onPointerMove={() => onPoint(index)}
          ref={(node) => {
            if (index === chosen) node?.scrollIntoView({ block: 'nearest' })
          }}
        >
          <entry.icon size={16} aria-hidden />
          <span>{entry.label}</span>
          <small>{entry.group}</small>
        </button>
      ))}
    </div>
  )
}

/** Returns the ref of a dialog that is open as long as it is part of the page. */
function useModal() {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const shown = dialog.current
    shown?.showModal()
    // A dialog returns the focus only if it is closed before it is removed.
    return () => shown?.close()
  }, [])
  return dialog
}

function noneOf(isReady: boolean, isLoaded: boolean): string {
  if (isReady) return 'Nothing is called that.'
  return isLoaded ? 'Searching…' : 'Loading…'
}
