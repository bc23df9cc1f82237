import { sql } from 'kysely'
import type { Context } from '../../../context.ts'
import { basePathOf } from '../../../platform/http/server/own-origin.ts'
import { type RawRoute, rawRoute } from '../../../platform/http/server/serve-raw.ts'
import { escapeHtml } from '../../../platform/text/safety/escape-html.ts'
import { showStatus } from './contract.ts'
import { documentOf } from './page-document.ts'

/** The setting that holds the id of the demo agent. */
export const DEMO_AGENT = 'demo-agent'

/** The page shows nothing of any account except the demo agent, which is public. */
export const statusRoutes = (
  ctx: Pick<Context, 'config' | 'db' | 'embedded' | 'maintenance' | 'models' | 'space'>,
  apiPath: string,
): RawRoute[] => [
  rawRoute(showStatus, async ({ request, reply }) => {
    const origin = ctx.config.publicUrl ?? `${request.protocol}://${request.host}`
    const base = basePathOf(ctx.config)
    const isDown = await ctx.maintenance.isOn()
    const demo = await demoAgent(ctx).catch(() => null)
    const rows: [string, string][] = [
      [
        'State',
        isDown ? 'Under maintenance' : ctx.space.isFull() ? 'The disk is nearly full: only reads' : 'Working',
      ],
      ['Database', ctx.embedded ? 'Embedded' : 'PostgreSQL'],
      [
        'Models',
        ctx.models
          .ids()
          .filter((id) => id !== 'auto')
          .join(', '),
      ],
      ['API', `${origin}${apiPath}`],
    ]
    const list = rows.map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`).join('')
    return reply.type('text/html; charset=utf-8').send(
      documentOf(
        'Parley',
        `<h1>Parley</h1>
<p>This service hosts AI agents that answer from your own documents.</p>
${demo ? tryIt(base, demo) : ''}
<h2>What to do next</h2>
<p>In the folder in which Parley was started, make a key, an agent, and a document for it:</p>
<pre><code>${escapeHtml(steps(`${origin}${apiPath}`))}</code></pre>
<p>Then open <code>${escapeHtml(origin)}/widget/AGENT_ID</code> and ask it how long the warranty is. The
<a href="${base}/docs/guide/quickstart.md">quickstart</a> goes on from here;
<a href="${base}/docs/guide/widget.md">the widget</a> puts the chat on your website.</p>
<dl>${list}</dl>
<p><a href="${base}/docs">Guide</a> · <a href="${base}/reference">API reference</a> · <a href="${base}/openapi.json">OpenAPI document</a> · <a href="${base}/api/v2/health">Health</a></p>`,
      ),
    )
  }),
]

async function demoAgent({ db }: Pick<Context, 'db'>): Promise<string | null> {
  const row = await db
    .selectFrom('settings')
    .innerJoin('agents', (join) => join.on(sql<boolean>`agents.id = settings.value #>> '{}'`))
    .select('agents.id')
    .where('settings.name', '=', DEMO_AGENT)
    .where('agents.visibility', '=', 'public')
    .executeTakeFirst()
  return row?.id ?? null
}

const tryIt = (base: string, agentId: string): string => `<h2>Try it</h2>
<p>The demo agent has read Parley's own documentation. <a href="${base}/widget/${agentId}">Open the chat on a page of its own</a>.</p>
<iframe src="${base}/widget/${agentId}" title="Chat with the demo agent"></iframe>`

const steps = (
  api: string,
): string => `export PARLEY_KEY=$(npm run -s parley -- keys create --name Mine | head -1)

curl ${api}/agents -H "Authorization: Bearer $PARLEY_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"name": "Help desk", "visibility": "public"}'

curl ${api}/agents/AGENT_ID/sources -H "Authorization: Bearer $PARLEY_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"type": "text", "name": "Warranty", "content": "The warranty lasts two years."}'`
