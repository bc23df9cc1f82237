import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { enqueueCrawl } from '../server/knowledge/crawl/run/enqueue-crawl.ts'
import type { Client, Service } from './start.ts'

type ShownPage = {
  id: string
  url: string
  title: string | null
  status: string
  error: string | null
  size: number
}

/** Returns functions for working with the websites of one agent. */
export function websites(service: Service, client: Client, agentId: string) {
  const path = `/agents/${agentId}/sources`
  const tools = {
    agentId,
    path,
    async add(url: string, options: object = {}): Promise<string> {
      const body = { type: 'link', linkType: 'crawl', url, ...options }
      const answer = await client.request('POST', path, body)
      assert.equal(answer.status, 201, JSON.stringify(answer.body))
      return answer.body.id
    },
    async read(id: string) {
      return (await client.request('GET', `${path}/${id}`)).body
    },
    /** Returns the source once it is no longer being processed. */
    async settled(id: string) {
      for (;;) {
        const row = await service.ctx.db
          .selectFrom('sources')
          .select('status')
          .where('id', '=', id)
          .executeTakeFirstOrThrow()
        if (row.status === 'trained' || row.status === 'failed') return tools.read(id)
        await wait(50)
      }
    },
    async crawled(url: string, options: object = {}) {
      return tools.settled(await tools.add(url, options))
    },
    /** Crawls the website again and waits for the end. */
    async again(id: string) {
      const started = await service.ctx.db.transaction().execute((trx) =>
        enqueueCrawl(service.ctx.jobs, trx, {
          accountId: client.accountId,
          sourceId: id,
          reason: 're-sync',
        }),
      )
      assert.ok(started)
      return tools.settled(id)
    },
    /** Returns all pages by path and query, in the order of the list. */
    async pages(id: string): Promise<Map<string, ShownPage>> {
      const found = new Map<string, ShownPage>()
      let cursor = ''
      do {
        const query = `?limit=100${cursor && `&cursor=${cursor}`}`
        const { body } = await client.request('GET', `${path}/${id}/pages${query}`)
        for (const page of body.data) {
          const { pathname, search } = new URL(page.url)
          found.set(pathname + search, page)
        }
        cursor = body.pagination.cursor ?? ''
      } while (cursor)
      return found
    },
    async ask(
      message: string,
    ): Promise<{ text: string; sources: { name: string; url: string; anchor: string | null }[] }> {
      const { status, body } = await client.request('POST', `/agents/${agentId}/chat`, {
        message,
        stream: false,
      })
      assert.equal(status, 200, JSON.stringify(body))
      return { text: body.data.parts[0].text, sources: body.data.metadata.sources ?? [] }
    },
    async finds(marker: string): Promise<boolean> {
      return (await tools.ask(`What about ${marker}?`)).text.includes(marker)
    },
  }
  return tools
}
