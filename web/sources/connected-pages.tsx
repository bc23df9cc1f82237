import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { call, listing, type OutputOf, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form, FormActions, TextField } from '../ui/field.tsx'
import { FileText, Plus } from '../ui/icons.ts'
import { ShowMore } from '../ui/show-more.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import classes from './sources.module.css'

const PATH = '/agents/{agentId}/pages-connection'
const refresh = () => fetchAgain(PATH)

/** Connects a Notion workspace and adds its pages as sources. */
export function ConnectedPages({ agentId, onClose }: { agentId: string; onClose: () => void }) {
  const connection = useQuery(reading(PATH, { params: { agentId } }))
  return (
    <Dialog title="Pages of Notion" isOpen onClose={onClose} wide>
      <Loaded of={connection}>
        {({ connected }) => (connected ? <PageList agentId={agentId} /> : <Connect agentId={agentId} />)}
      </Loaded>
    </Dialog>
  )
}

function Connect({ agentId }: { agentId: string }) {
  const connect = useMutation({
    meta: { quiet: true },
    mutationFn: (body: { accessToken: string; baseUrl?: string }) =>
      call('PUT', PATH, { params: { agentId }, body }),
    onSuccess: refresh,
  })
  const submit = (fields: FormData): void => {
    const baseUrl = String(fields.get('baseUrl')).trim()
    connect.mutate({ accessToken: String(fields.get('token')).trim(), ...(baseUrl && { baseUrl }) })
  }
  return (
    <Form save={connect} onSubmit={submit}>
      <ol className={classes.steps}>
        <li>Make an internal integration in the settings of Notion, and copy its secret.</li>
        <li>On each page that the agent may read, add the integration under Connections.</li>
      </ol>
      <TextField
        label="Secret of the integration"
        name="token"
        type="password"
        autoComplete="off"
        required
        autoFocus
      />
      <details>
        <summary>Another server</summary>
        <TextField label="Address" name="baseUrl" inputMode="url" hint="Leave it empty for the public one." />
      </details>
      <FormActions save={connect} kind="primary" label="Connect" />
    </Form>
  )
}

function PageList({ agentId }: { agentId: string }) {
  const params = { agentId }
  const [query, setQuery] = useState('')
  const [added, setAdded] = useState<ReadonlySet<string>>(new Set())
  const pages = useInfiniteQuery(
    listing(`${PATH}/pages`, { params, query: { limit: 50, ...(query && { query }) } }),
  )
  const [isLeaving, setIsLeaving] = useState(false)
  const disconnect = useMutation({
    mutationFn: () => call('DELETE', PATH, { params }),
    onSuccess: () => {
      setIsLeaving(false)
      tell('done', 'Notion is disconnected. The sources stay, and are kept current no longer.')
      return refresh()
    },
  })
  const search = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    setQuery(String(new FormData(event.currentTarget).get('query')).trim())
  }
  return (
    <div className={classes.drop}>
      <form className={classes.finding} onSubmit={search}>
        <TextField
          label="Search by title"
          hideLabel
          name="query"
          type="search"
          placeholder="Search by title"
        />
        <Button type="submit">Search</Button>
        <Button kind="danger" onClick={() => setIsLeaving(true)}>
          Disconnect
        </Button>
      </form>
      {isLeaving && (
        <Confirm
          title="Disconnect Notion?"
          action="Disconnect"
          pending={disconnect.isPending}
          onConfirm={() => disconnect.mutate()}
          onClose={() => setIsLeaving(false)}
        >
          The sources stay, but are no longer kept current. The token is deleted, and has to be entered again
          to reconnect it.
        </Confirm>
      )}
      <Loaded of={pages}>
        {({ pages: lists }) => {
          const all = lists.flatMap(({ data }) => data)
          if (all.length === 0) {
            return (
              <Empty icon={FileText} title={query ? 'No page has that title' : 'No page is shared'}>
                {query
                  ? 'Search for another word of the title.'
                  : 'Add the integration to a page under its Connections, and open this again.'}
              </Empty>
            )
          }
          return (
            <ul className={classes.uploads} aria-label="Pages that can be added">
              {all.map((page) => (
                <PageRow
                  key={page.id}
                  agentId={agentId}
                  page={page}
                  isAdded={added.has(page.id)}
                  onAdded={() => setAdded((before) => new Set([...before, page.id]))}
                />
              ))}
            </ul>
          )
        }}
      </Loaded>
      <ShowMore of={pages} className={classes.more} />
    </div>
  )
}

type NotionPage = OutputOf<'GET', `${typeof PATH}/pages`>['data'][number]

type PageRowProps = { agentId: string; page: NotionPage; isAdded: boolean; onAdded: () => void }

function PageRow({ agentId, page: { id, title, updatedAt }, isAdded, onAdded }: PageRowProps) {
  const add = useMutation({
    mutationFn: () =>
      call('POST', '/agents/{agentId}/sources', {
        params: { agentId },
        body: { type: 'notionPage', pageId: id },
      }),
    onSuccess: () => {
      onAdded()
      void fetchAgain('/agents/{agentId}/sources', '/agents/{agentId}/sources/summary')
    },
  })
  return (
    <li>
      <div className={classes.upload}>
        <span>{title ?? 'Untitled'}</span>
        {updatedAt && (
          <small>
            Edited <Ago at={updatedAt} />
          </small>
        )}
      </div>
      <Button
        small
        icon={Plus}
        disabled={isAdded}
        pending={add.isPending}
        aria-label={`Add ${title ?? 'the page'}`}
        onClick={() => add.mutate()}
      >
        {isAdded ? 'Added' : 'Add'}
      </Button>
    </li>
  )
}
