import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import { Button } from './button.tsx'

type List = Pick<UseInfiniteQueryResult, 'hasNextPage' | 'fetchNextPage' | 'isFetchingNextPage'>

/** The button that loads the next page of a list, if there is one. */
export function ShowMore({ of: list, className }: { of: List; className: string | undefined }) {
  if (!list.hasNextPage) return null
  return (
    <div className={className}>
      <Button onClick={() => list.fetchNextPage()} pending={list.isFetchingNextPage}>
        Show more
      </Button>
    </div>
  )
}
