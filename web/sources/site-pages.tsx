import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call, listing, type OutputOf } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { Select } from '../ui/field.tsx'
import { formatBytes, plural } from '../ui/format.ts'
import { Hidden } from '../ui/hidden.tsx'
import { Globe } from '../ui/icons.ts'
import { Badge, Table } from '../ui/page.tsx'
import { ShowMore } from '../ui/show-more.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import { partsOf } from './left-out.tsx'
import classes from './sources.module.css'
import { Warnings } from './warnings.tsx'

const POLL_MS = 1_500
const PAGE_TONES = { included: 'success', excluded: 'neutral', failed: 'danger', pending: 'info' } as const
const PAGE_WORDS = { included: 'Read', excluded: 'Left out', failed: 'Failed', pending: 'Waiting' } as const
type PageStatus = keyof typeof PAGE_TONES
const STATES = [
  ['', 'All pages'],
  ['included', 'Read'],
  ['excluded', 'Left out'],
  ['failed', 'Failed'],
  ['pending', 'Waiting'],
] as const

/** Lists the pages of a website with their states, which are updated while the pages are read. */
export function SitePages({
  agentId,
  sourceId,
  isBusy,
  progress,
}: {
  agentId: string
  sourceId: string
  isBusy: boolean
  progress: string | null
}) {
  const can = useCan()
  const [status, setStatus] = useState<PageStatus | ''>('')
  const pages = useInfiniteQuery({
    ...listing('/agents/{agentId}/sources/{sourceId}/pages', {
      params: { agentId, sourceId },
      query: { limit: 50, ...(status && { status }) },
    }),
    refetchInterval: ({ state }) =>
      isBusy || state.data?.pages.some(({ data }) => data.some((page) => page.status === 'pending'))
        ? POLL_MS
        : false,
  })
  const exclude = useMutation({
    mutationFn: ({ pageId, excluded }: { pageId: string; excluded: boolean }) =>
      call('PATCH', '/agents/{agentId}/sources/{sourceId}/pages/{pageId}', {
        params: { agentId, sourceId, pageId },
        body: { excluded },
      }),
    onSettled: () => fetchAgain('/agents/{agentId}/sources/{sourceId}/pages'),
  })
  return (
    <Loaded of={pages}>
      {({ pages: list }) => {
        const all = list.flatMap(({ data }) => data)
        return (
          <div className={classes.drop}>
            <div className={classes.filters}>
              <Select
                label="State of the pages"
                hideLabel
                options={STATES}
                value={status}
                onChoose={setStatus}
              />
              <p className={classes.faint} role="status">
                {isBusy
                  ? (progress ?? 'Pages are being read …')
                  : plural(list[0]?.pagination.total ?? 0, 'page')}
              </p>
            </div>
            {all.length === 0 && (
              <Empty icon={Globe} title={status ? 'No page is in this state' : 'No page was found yet'} />
            )}
            {all.length > 0 && (
              <PageTable pages={all} onExclude={can('sources:write') ? exclude.mutate : undefined} />
            )}
            <ShowMore of={pages} className={classes.more} />
          </div>
        )
      }}
    </Loaded>
  )
}

type SitePage = OutputOf<'GET', '/agents/{agentId}/sources/{sourceId}/pages'>['data'][number]
type PageTableProps = {
  pages: SitePage[]
  onExclude: ((change: { pageId: string; excluded: boolean }) => void) | undefined
}

function PageTable({ pages, onExclude }: PageTableProps) {
  return (
    <Table label="Pages" head={['Page', 'State', 'Size', 'Read', <Hidden key="a">Actions</Hidden>]}>
      {pages.map(({ id, url, title, status: state, error, size, fetchedAt, warnings, leftOut }) => (
        <tr key={id}>
          <td className={classes.name}>
            <a href={url} target="_blank" rel="noopener noreferrer">
              {title ?? url}
            </a>
            <p className={error ? classes.error : classes.faint}>{error ?? new URL(url).pathname}</p>
            {warnings && <Warnings of={warnings} />}
            {leftOut && <p className={classes.faint}>Left out: {partsOf(leftOut)}</p>}
          </td>
          <td>
            <Badge tone={PAGE_TONES[state]}>{PAGE_WORDS[state]}</Badge>
          </td>
          <td className={classes.nowrap}>{formatBytes(size)}</td>
          <td className={classes.nowrap}>{fetchedAt ? <Ago at={fetchedAt} /> : '–'}</td>
          <td className={classes.end}>
            {onExclude && (
              <Button
                small
                kind="quiet"
                onClick={() => onExclude({ pageId: id, excluded: state !== 'excluded' })}
              >
                {state === 'excluded' ? 'Include' : 'Leave out'}
              </Button>
            )}
          </td>
        </tr>
      ))}
    </Table>
  )
}
