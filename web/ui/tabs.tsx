import { type ReactNode, useEffect, useRef } from 'react'
import { Tabs as Group, Tab, TabList, TabPanel } from 'react-aria-components'
import classes from './tabs.module.css'

type TabItem = { id: string; label: ReactNode; content: ReactNode }

export function Tabs({
  label,
  items,
  chosen,
  onChoose,
}: {
  label: string
  items: TabItem[]
  chosen?: string
  onChoose?: (id: string) => void
}) {
  const list = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: on a phone, the selected tab may be out of view
  useEffect(() => {
    // The tabs are rendered a moment after the list.
    const frame = requestAnimationFrame(() =>
      list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' }),
    )
    return () => cancelAnimationFrame(frame)
  }, [chosen])
  return (
    <Group selectedKey={chosen} onSelectionChange={(key) => onChoose?.(String(key))} className={classes.tabs}>
      <TabList ref={list} aria-label={label} className={classes.list}>
        {items.map(({ id, label: text }) => (
          <Tab key={id} id={id} className={classes.tab}>
            {text}
          </Tab>
        ))}
      </TabList>
      {items.map(({ id, content }) => (
        <TabPanel key={id} id={id} className={classes.panel}>
          {content}
        </TabPanel>
      ))}
    </Group>
  )
}
