import { useInfiniteQuery } from '@tanstack/react-query'
import { listing } from '../app/api.ts'
import { Button } from '../ui/button.tsx'
import { TextQuote } from '../ui/icons.ts'
import { Empty, Loaded } from '../ui/state.tsx'
import { PassageChoice } from './passage-choice.tsx'
import classes from './sources.module.css'

/** Lists the passages of a source, from which answers are made, in the order of the text. */
export function Chunks({ agentId, sourceId }: { agentId: string; sourceId: string }) {
  const chunks = useInfiniteQuery(
    listing('/agents/{agentId}/sources/{sourceId}/chunks', {
      params: { agentId, sourceId },
      query: { limit: 50 },
    }),
  )
  return (
    <Loaded of={chunks} lines={8}>
      {({ pages }) => {
        const all = pages.flatMap(({ data }) => data)
        if (all.length === 0) {
          return (
            <Empty icon={TextQuote} title="No passage is live">
              They stand here as soon as the source is trained.
            </Empty>
          )
        }
        return (
          <ol className={classes.chunks} aria-label="Passages">
            {all.map(({ id, headingPath, page, text, questions, title, excluded, pinnedFor }) => (
              <li key={id} className={`${classes.chunk} ${excluded ? classes.excluded : ''}`}>
                <header>
                  {title && <span>{title}</span>}
                  {headingPath.length > 0 && <span>{headingPath.join(' › ')}</span>}
                  {page !== null && <span>page {page}</span>}
                </header>
                {questions.length > 0 && <p className={classes.faint}>{questions.join('\n')}</p>}
                <p dir="auto">{text}</p>
                <PassageChoice params={{ agentId, sourceId, chunkId: id }} chosen={{ excluded, pinnedFor }} />
              </li>
            ))}
            {chunks.hasNextPage && (
              <li className={classes.more}>
                <Button onClick={() => chunks.fetchNextPage()} pending={chunks.isFetchingNextPage}>
                  Show more
                </Button>
              </li>
            )}
          </ol>
        )
      }}
    </Loaded>
  )
}
