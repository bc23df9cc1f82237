import { startWebSite, type WebSite } from './fakes/web-site.ts'
import { type Client, type Service, startService } from './start.ts'
import { websites } from './websites.ts'

export type Websites = ReturnType<typeof websites>

/** A service, and a website that it is allowed to crawl. */
export type BesideWebsite = {
  service: Service
  site: WebSite
  /** Creates an account and an agent, and empties the website. */
  newAgent(): Promise<{ client: Client; web: Websites }>
  close(): Promise<void>
}

export async function startBesideWebsite(env: Record<string, string> = {}): Promise<BesideWebsite> {
  const site = await startWebSite()
  const service = await startService({ ALLOWED_PRIVATE_HOSTS: `${site.host},localhost`, ...env })
  return {
    service,
    site,
    async newAgent() {
      site.pages.clear()
      site.rest = null
      site.asked.length = 0
      const client = await service.account()
      const { body } = await client.request('POST', '/agents', { name: 'Agent' })
      return { client, web: websites(service, client, body.id) }
    },
    async close() {
      await service.close()
      await site.close()
    },
  }
}
