import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Globe } from 'lucide-react'
import { isBusy, statusOfSource } from '../agents/status.ts'
import { call, listing, reading, type Source } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { useAgentId, useCan } from '../app/session.ts'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { formatBytes } from '../ui/format.ts'
import { Badge, Page, Table } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Chunks } from './chunks.tsx'
import classes from './sources.module.css'

const PAGE_TONES = { included: 'success', excluded: 'neutral', failed: 'danger', pending: 'info' } as const

export function SourcePage() {
  const agentId = useAgentId()
  const { sourceId } = useParams({ strict: false }) as { sourceId: string }
  const source = useQuery({
    ...reading('/agents/{agentId}/sources/{sourceId}', { params: { agentId, sourceId } }),
    refetchInterval: ({ state }) => (state.data && isBusy(state.data) ? 1_500 : false),
  })
  return (
    <Loaded of={source}>
      {(data) => (
        <Page
          title={data.name ?? 'Untitled'}
          about={
            <Link to="/agents/$agentId/sources" params={{ agentId }}>
              All sources
            </Link>
          }
        >
          <Facts source={data} />
          <Parts source={data} agentId={agentId} />
        </Page>
      )}
    </Loaded>
  )
}

function Facts({ source }: { source: Source }) {
  const { tone, label } = statusOfSource(source.status)
  return (
    <dl className={classes.facts}>
      <div>
        <dt>State</dt>
        <dd>
          <Badge tone={tone}>{label}</Badge>
        </dd>
      </div>
      <div>
        <dt>Text</dt>
        <dd>{formatBytes(source.size)}</dd>
      </div>
      <div>
        <dt>Added</dt>
        <dd>
          <Ago at={source.createdAt} />
        </dd>
      </div>
      <div>
        <dt>Changed</dt>
        <dd>
          <Ago at={source.updatedAt} />
        </dd>
      </div>
      {source.error && (
        <div>
          <dt>What went wrong</dt>
          <dd className={classes.error}>{source.error}</dd>
        </div>
      )}
    </dl>
  )
}

function Parts({ source, agentId }: { source: Source; agentId: string }) {
  const isSite = source.type === 'link' && 'children' in (source.metadata ?? {})
  const chunks = <Chunks agentId={agentId} sourceId={source.id} />
  if (!isSite) return chunks
  return (
    <Tabs
      label="Parts of the source"
      items={[
        { id: 'pages', label: 'Pages', content: <Pages agentId={agentId} sourceId={source.id} /> },
        { id: 'chunks', label: 'Passages', content: chunks },
      ]}
    />
  )
}

function Pages({ agentId, sourceId }: { agentId: string; sourceId: string }) {
  const can = useCan()
  const pages = useInfiniteQuery({
    ...listing('/agents/{agentId}/sources/{sourceId}/pages', {
      params: { agentId, sourceId },
      query: { limit: 50 },
    }),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some(({ status }) => status === 'pending')) ? 1_500 : false,
  })
  const exclude = useMutation({
    mutationFn: ({ pageId, excluded }: { pageId: string; excluded: boolean }) =>
      call('PATCH', '/agents/{agentId}/sources/{sourceId}/pages/{pageId}', {
        params: { agentId, sourceId, pageId },
        body: { excluded },
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['/agents/{agentId}/sources/{sourceId}/pages'] }),
  })
  return (
    <Loaded of={pages}>
      {({ pages: list }) => {
        const all = list.flatMap(({ data }) => data)
        if (all.length === 0) return <Empty icon={Globe} title="No page was found yet" />
        return (
          <>
            <Table
              label="Pages"
              head={[
                'Page',
                'State',
                'Size',
                'Read',
                <span key="a" className="visually-hidden">
                  Actions
                </span>,
              ]}
            >
              {all.map(({ id, url, title, status, error, size, fetchedAt }) => (
                <tr key={id}>
                  <td className={classes.name}>
                    <a href={url} target="_blank" rel="noopener noreferrer">
                      {title ?? url}
                    </a>
                    <p className={error ? classes.error : classes.faint}>{error ?? new URL(url).pathname}</p>
                  </td>
                  <td>
                    <Badge tone={PAGE_TONES[status]}>{status}</Badge>
                  </td>
                  <td className={classes.nowrap}>{formatBytes(size)}</td>
                  <td className={classes.nowrap}>{fetchedAt ? <Ago at={fetchedAt} /> : '–'}</td>
                  <td className={classes.end}>
                    {can('sources:write') && (
                      <Button
                        small
                        kind="quiet"
                        onClick={() => exclude.mutate({ pageId: id, excluded: status !== 'excluded' })}
                      >
                        {status === 'excluded' ? 'Include' : 'Leave out'}
                      </Button>
                    )}
                  </td>
                </tr>
              ))}
            </Table>
            {pages.hasNextPage && (
              <div className={classes.more}>
                <Button onClick={() => pages.fetchNextPage()} pending={pages.isFetchingNextPage}>
                  Show more
                </Button>
              </div>
            )}
          </>
        )
      }}
    </Loaded>
  )
}
