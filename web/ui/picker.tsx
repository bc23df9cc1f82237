import type { LucideIcon } from 'lucide-react'
import { type KeyboardEvent, useId, useState } from 'react'
import { Modal, ModalOverlay, Dialog as Pane } from 'react-aria-components'
import classes from './picker.module.css'

export type Entry = { id: string; label: string; group: string; icon: LucideIcon; run: () => void }

type PickerProps = {
  title: string
  /** What the field is for. */
  label: string
  listLabel: string
  entries: Entry[]
  onClose: () => void
}

/** A dialog that finds one of many entries by a few letters of its name. */
export function Picker({ title, label, listLabel, entries, onClose }: PickerProps) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const listId = useId()
  const words = text.toLowerCase().split(/\s+/)
  const found = entries.filter((entry) =>
    words.every((word) => `${entry.group} ${entry.label}`.toLowerCase().includes(word)),
  )
  const chosen = Math.min(at, found.length - 1)
  const run = (entry: Entry | undefined): void => {
    if (!entry) return
    onClose()
    entry.run()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) setAt((chosen + step + found.length) % Math.max(1, found.length))
    else if (event.key === 'Enter') run(found[chosen])
    else return
    event.preventDefault()
  }
  return (
    <ModalOverlay
      isOpen
      isDismissable
      onOpenChange={(open) => !open && onClose()}
      className={classes.overlay}
    >
      <Modal className={classes.modal}>
        <Pane aria-label={title} className={classes.pane}>
          <input
            // biome-ignore lint/a11y/noAutofocus: users open the picker to type into this field
            autoFocus
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
              setAt(0)
            }}
            onKeyDown={onKeyDown}
          />
          {/* The field keeps the focus and refers to the selected entry (aria-activedescendant). */}
          <div id={listId} role="listbox" aria-label={listLabel} className={classes.list}>
            {found.map((entry, index) => (
              <button
                type="button"
                tabIndex={-1}
                key={entry.id}
                id={`${listId}-${index}`}
                role="option"
                aria-selected={index === chosen}
                className={classes.option}
                onClick={() => run(entry)}
                onPointerMove={() => setAt(index)}
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
          {found.length === 0 && <p className={classes.none}>Nothing is called that.</p>}
        </Pane>
      </Modal>
    </ModalOverlay>
  )
}
