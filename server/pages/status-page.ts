import type { FastifyInstance } from 'fastify'
import type { Context } from '../context.ts'

const STYLE = `
  body { font: 16px/1.5 system-ui, sans-serif; color: #1c1917; background: #fafaf9; margin: 0 }
  main { max-width: 42rem; margin: 12vh auto; padding: 0 1.5rem }
  h1 { font-size: 1.9rem; margin: 0 0 .25rem }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .4rem 1.5rem; margin: 2rem 0 }
  dt { color: #57534e } dd { margin: 0 }
  pre { background: #1c1917; color: #fafaf9; padding: 1rem; border-radius: .5rem; white-space: pre-wrap; overflow-wrap: anywhere }
  a { color: #1d4ed8 } a:focus-visible { outline: 3px solid #1d4ed8; outline-offset: 2px }
  @media (prefers-color-scheme: dark) {
    body { color: #e7e5e4; background: #1c1917 } dt { color: #a8a29e } pre { background: #0c0a09 } a { color: #93c5fd }
  }`

/** A small page at / that says whether the service works; it shows nothing of any account. */
export function serveStatusPage(app: FastifyInstance, ctx: Context, apiPath: string): void {
  app.get('/', async (request, reply) => {
    const apiUrl = `${ctx.config.publicUrl ?? `${request.protocol}://${request.host}`}${apiPath}`
    const isDown = await ctx.maintenance.isOn()
    const rows: [string, string][] = [
      ['State', isDown ? 'Under maintenance' : 'Working'],
      ['Database', ctx.embedded ? 'Embedded' : 'PostgreSQL'],
      [
        'Models',
        ctx.models
          .ids()
          .filter((id) => id !== 'auto')
          .join(', '),
      ],
      ['API', apiUrl],
    ]
    const list = rows.map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`).join('')
    return reply.type('text/html; charset=utf-8').send(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley</title><style>${STYLE}</style></head><body><main>
<h1>Parley</h1>
<p>This service hosts AI agents that answer from your own documents.</p>
<dl>${list}</dl>
<p><a href="/reference">API reference</a> · <a href="/openapi.json">OpenAPI document</a> · <a href="/api/v2/health">Health</a></p>
<p>Ask who your key is:</p>
<pre><code>curl ${escapeHtml(apiUrl)}/me -H "Authorization: Bearer $PARLEY_KEY"</code></pre>
</main></body></html>`)
  })
}

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign] ?? sign)
