import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { isBusy, statusOfSource } from '../agents/status.ts'
import { call, reading, type Source } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useAgentId, useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { formatBytes, formatNumber } from '../ui/format.ts'
import { Pencil, RefreshCw } from '../ui/icons.ts'
import { Badge, Page } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { tell } from '../ui/toast.tsx'
import { CharsetOf } from './charset.tsx'
import { Chunks } from './chunks.tsx'
import { Citations } from './citations.tsx'
import { EditSource } from './edit-source.tsx'
import { History } from './history.tsx'
import { LeftOut } from './left-out.tsx'
import { PausedAddresses } from './paused-addresses.tsx'
import { SitePages } from './site-pages.tsx'
import { SourceText } from './source-text.tsx'
import classes from './sources.module.css'
import { progressOf } from './training-list.tsx'
import { Warnings } from './warnings.tsx'

const PATH = '/agents/{agentId}/sources/{sourceId}'
/** The fields that change when a source has been trained. */
const PARTS = ['chunks', 'text', 'content', 'trainings', 'pages'] as const

/** Shows one source: its extracted text, its chunks, its trainings, and where it was cited. */
export function SourcePage() {
  const agentId = useAgentId()
  const { sourceId = '' } = useParams({ strict: false })
  const source = useQuery({
    ...reading(PATH, { params: { agentId, sourceId } }),
    refetchInterval: ({ state }) => (state.data && isBusy(state.data) ? 1_500 : false),
  })
  const { status, updatedAt } = source.data ?? {}
  // A short text may be trained again before its state is polled, so the state alone is not enough.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the parts are read again when the source has changed
  useEffect(() => {
    for (const part of PARTS) void fetchAgain(`${PATH}/${part}`)
  }, [status, updatedAt])
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
          actions={<Actions agentId={agentId} source={data} />}
        >
          <Facts agentId={agentId} source={data} />
          <PausedAddresses agentId={agentId} source={data} />
          <Parts source={data} agentId={agentId} />
        </Page>
      )}
    </Loaded>
  )
}

function Actions({ agentId, source }: { agentId: string; source: Source }) {
  const can = useCan()
  const [isEditing, setIsEditing] = useState(false)
  const refresh = useMutation({
    mutationFn: () => call('POST', `${PATH}/refresh`, { params: { agentId, sourceId: source.id } }),
    onSuccess: () => {
      tell('done', 'It is read again. Until then the live version answers.')
      void fetchAgain('/agents/{agentId}/sources')
      return fetchAgain(PATH)
    },
  })
  if (!can('sources:write')) return null
  return (
    <>
      {source.type !== 'ticket' && (
        <Button
          icon={RefreshCw}
          pending={refresh.isPending || isBusy(source)}
          onClick={() => refresh.mutate()}
        >
          Read again
        </Button>
      )}
      {(source.type === 'text' || source.type === 'qna') && (
        <Button kind="primary" icon={Pencil} onClick={() => setIsEditing(true)}>
          Edit
        </Button>
      )}
      {isEditing && <EditSource agentId={agentId} source={source} onClose={() => setIsEditing(false)} />}
    </>
  )
}

/** Returns whether a source is a website of many pages. */
const isSite = ({ type, metadata }: Source): boolean => type === 'link' && 'children' in (metadata ?? {})

function Facts({ agentId, source }: { agentId: string; source: Source }) {
  const { charset, pictures } = (source.metadata ?? {}) as {
    charset?: unknown
    pictures?: { pages: number; read: number }
  }
  const isRead = source.status === 'trained' || source.status === 'updated'
  const { tone, label } =
    source.unpublished && isRead
      ? { tone: 'warning' as const, label: 'In the draft or an earlier version alone' }
      : statusOfSource(source.status)
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
      {pictures && (
        <div>
          <dt>Scanned pages</dt>
          <dd role="status">
            {formatNumber(pictures.read)} of {formatNumber(pictures.pages)} read
          </dd>
        </div>
      )}
      {typeof charset === 'string' && (
        <div>
          <dt>Character encoding</dt>
          <dd>
            <CharsetOf agentId={agentId} source={source} charset={charset} />
          </dd>
        </div>
      )}
      {source.warnings && (
        <div className={classes.wide}>
          <dt>Not read</dt>
          <dd>
            <Warnings of={source.warnings} />
          </dd>
        </div>
      )}
      {(source.leftOut || source.wholePage || isSite(source)) && (
        <div className={classes.wide}>
          <dt>Left out of the page</dt>
          <dd>
            <LeftOut agentId={agentId} source={source} />
          </dd>
        </div>
      )}
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
  const can = useCan()
  const { tab } = useSearch({ strict: false })
  const navigate = useNavigate()
  const place = { agentId, sourceId: source.id }
  const items = [
    isSite(source) && {
      id: 'pages',
      label: 'Pages',
      content: <SitePages {...place} isBusy={isBusy(source)} progress={progressOf(source)} />,
    },
    { id: 'text', label: 'Text', content: <SourceText {...place} /> },
    { id: 'chunks', label: 'Passages', content: <Chunks {...place} /> },
    { id: 'history', label: 'History', content: <History {...place} /> },
    can('conversations:read') && { id: 'cited', label: 'Cited in', content: <Citations {...place} /> },
  ].filter((item) => item !== false)
  return (
    <Tabs
      label="Parts of the source"
      items={items}
      chosen={items.some(({ id }) => id === tab) ? tab : items[0]?.id}
      onChoose={(id) => void navigate({ to: '.', search: { tab: id }, replace: true })}
    />
  )
}
