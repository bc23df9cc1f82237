import { type KeyboardEvent, type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react'
import classes from './tabs.module.css'

type TabItem = { id: string; label: ReactNode; content: ReactNode }

/** Tabs according to the ARIA practices; the arrow keys open the tab that they move to. */
export function Tabs({
  label,
  items,
  chosen,
  onChoose,
}: {
  label: string
  items: TabItem[]
  chosen?: string | undefined
  onChoose?: (id: string) => void
}) {
  const prefix = useId()
  const list = useRef<HTMLDivElement>(null)
  const [own, setOwn] = useState(items[0]?.id)
  const open = items.find(({ id }) => id === (chosen ?? own)) ?? items[0]
  const choose = (id: string): void => {
    setOwn(id)
    onChoose?.(id)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    // The tab that was come to last may not be shown yet.
    const at = items.findIndex(({ id }) => `${prefix}${id}` === document.activeElement?.id)
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key]
    const item = next === undefined ? undefined : items.at(next % items.length)
    if (!item) return
    event.preventDefault()
    choose(item.id)
    document.getElementById(`${prefix}${item.id}`)?.focus()
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: on a phone, the selected tab may be out of view
  useLayoutEffect(() => {
    void list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [open?.id])
  return (
    <div className={classes.tabs}>
      <div ref={list} role="tablist" aria-label={label} className={classes.list} onKeyDown={onKeyDown}>
        {items.map(({ id, label: text }) => (
          <button
            key={id}
            id={`${prefix}${id}`}
            type="button"
            role="tab"
            aria-selected={id === open?.id}
            aria-controls={id === open?.id ? `${prefix}panel` : undefined}
            tabIndex={id === open?.id ? 0 : -1}
            className={classes.tab}
            onClick={() => choose(id)}
          >
            {text}
          </button>
        ))}
      </div>
      {open && (
        <div
          key={open.id}
          id={`${prefix}panel`}
          role="tabpanel"
          aria-labelledby={`${prefix}${open.id}`}
          className={classes.panel}
        >
          {open.content}
        </div>
      )}
    </div>
  )
}
