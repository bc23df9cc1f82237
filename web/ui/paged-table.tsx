import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Table } from './page.tsx'
import classes from './paged-table.module.css'
import { ShowMore } from './show-more.tsx'
import { Loaded } from './state.tsx'

type Props<T> = {
  of: UseInfiniteQueryResult<InfiniteData<{ data: T[] }>>
  /** The lines of the placeholder while the first page is loading. */
  lines?: number
  label: string
  head: string[]
  /** Shown in place of a table without rows. */
  empty: ReactNode
  /** Returns the row of an item. */
  children: (item: T) => ReactNode
}

/** The table of a list that is loaded page by page. */
export const PagedTable = <T,>({ of, lines, label, head, empty, children }: Props<T>) => (
  <Loaded of={of} {...(lines !== undefined && { lines })}>
    {({ pages }) => {
      const all = pages.flatMap(({ data }) => data)
      if (all.length === 0) return empty
      return (
        <>
          <Table stacked label={label} head={head}>
            {all.map(children)}
          </Table>
          <ShowMore of={of} className={classes.more} />
        </>
      )
    }}
  </Loaded>
)
