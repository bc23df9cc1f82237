import { startWebSite } from './fakes/web-site.ts'
import { startService } from './start.ts'
import { websites } from '../server/knowledge/crawl/for-tests.ts'
const n = Number(process.argv[2] ?? 300)
const site = await startWebSite()
const service = await startService({ ALLOWED_PRIVATE_HOSTS: site.host })
site.rest = ({ url = '' }) => {
  const i = Number(url.slice(1) || 0)
  if (!(i < n)) return { status: 404 }
  const menu = Array.from({ length: 10 }, (_, k) => i * 10 + k + 1).filter((p) => p < n).map((p) => `<a href="/${p}">x</a>`).join('')
  return { headers: { etag: `"${i}"` }, body: `<html><head><title>Page ${i}</title></head><body>${menu}<main><h1>Page ${i}</h1>${Array.from({length: 40}, (_, k) => `<p>Step ${k} of page ${i} has a sentence of about one hundred and ten characters, so that there is some text here.</p>`).join('')}</main></body></html>` }
}
const client = await service.account()
const { body } = await client.request('POST', '/agents', { name: 'Agent' })
const web = websites(service, client, body.id)
const t = (w: string) => { const c = process.cpuUsage(); console.log(w, 'cpu', ((c.user + c.system) / 1e6).toFixed(2), 'wall', (performance.now()/1000).toFixed(1)) }
t('start')
const times = new Map<string, [number, number]>()
const exec = service.ctx.db.getExecutor()
const orig = Object.getPrototypeOf(exec).executeQuery
Object.getPrototypeOf(exec).executeQuery = async function (q: any, ...r: any[]) {
  const t = performance.now()
  try { return await orig.call(this, q, ...r) } finally {
    const key = q.sql.replace(/\$\d+(, \$\d+)*/g, '$').slice(0, 150); const e = times.get(key) ?? [0, 0]; e[0] += performance.now() - t; e[1]++; times.set(key, e) }
}
const dump = (w: string) => { console.log('--', w); for (const [k, [ms, c]] of [...times].sort((a, b) => b[1][0] - a[1][0]).slice(0, 9)) console.log(Math.round(ms), c, (ms / c).toFixed(2), k); times.clear() }
const { id } = await web.crawled(site.url); t('first'); dump('first')
await web.ask('page 7?'); t('asked')
await web.again(id); t('again'); dump('again'); await web.ask('page 7?'); t('asked')
await service.close(); await site.close()
