import { type CSSProperties, type ReactNode, useEffect } from 'react'
import classes from './page.module.css'

type PageProps = {
  title: string
  /** One sentence about the page. */
  about?: ReactNode
  actions?: ReactNode
  /** Makes the page as wide as the window, for layouts with panes. */
  full?: boolean
  narrow?: boolean
  children: ReactNode
}

export function Page({ title, about, actions, full, narrow, children }: PageProps) {
  useTitle(title)
  return (
    <div className={`${classes.page} ${full ? classes.full : ''} ${narrow ? classes.narrow : ''}`}>
      <header className={classes.head}>
        <div className={classes.words}>
          <h1>{title}</h1>
          {about && <p>{about}</p>}
        </div>
        {actions && <div className={classes.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  )
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} – Parley`
  }, [title])
}

/** Returns the fragment of the URL that leads to a section. */
export const anchorOf = (title: string): string => title.toLowerCase().replace(/\W+/g, '-')

/** A section of a page, with its own heading. */
export function Section({
  title,
  about,
  actions,
  children,
}: {
  title: string
  about?: ReactNode
  actions?: ReactNode
  children: ReactNode
}) {
  const id = anchorOf(title)
  // The router cannot scroll to a section that is rendered after the navigation.
  useEffect(() => {
    if (location.hash === `#${id}`) document.getElementById(id)?.scrollIntoView()
  }, [id])
  return (
    <section id={id} className={classes.section} aria-label={title}>
      <header className={classes.sectionHead}>
        <div>
          <h2>{title}</h2>
          {about && <p>{about}</p>}
        </div>
        {actions}
      </header>
      {children}
    </section>
  )
}

export const Card = ({ children, className }: { children: ReactNode; className?: string | undefined }) => (
  <div className={`${classes.card} ${className ?? ''}`}>{children}</div>
)

type Tone = 'neutral' | 'success' | 'warning' | 'danger' | 'info' | 'accent'

export const Badge = ({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`${classes.badge} ${classes[tone]}`}>{children}</span>
)

type TableProps = {
  label: string
  head: ReactNode[]
  className?: string | undefined
  /** On a phone, each row becomes a block in which every value is shown next to the name of its column. */
  stacked?: boolean
  children: ReactNode
}

/** A table that scrolls horizontally when it does not fit. */
export function Table({ label, head, className, stacked, children }: TableProps) {
  const names = Object.fromEntries(
    head.map((name, at) => [`--column-${at + 1}`, typeof name === 'string' ? `"${name}"` : '""']),
  )
  return (
    <section
      className={`${classes.scroll} ${stacked ? classes.stacked : ''} ${className ?? ''}`}
      style={stacked ? (names as CSSProperties) : undefined}
      aria-label={`Table: ${label}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
      tabIndex={0}
    >
      <table className={classes.table}>
        <thead>
          <tr>
            {head.map((name, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns keep their order
              <th key={at} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}

export const Bar = ({ share, label }: { share: number; label: string }) => (
  <progress className={classes.bar} value={Math.min(1, Math.max(0, share))} max={1} aria-label={label} />
)
