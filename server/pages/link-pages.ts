import type { FastifyInstance } from 'fastify'
import { documentOf } from './page-document.ts'

type LinkPage = { path: string; title: string; does: string; endpoint: string; body: string }

const PASSWORD = '"password": "at least twelve characters"'

const pages: LinkPage[] = [
  {
    path: '/setup',
    title: 'Set up the workspace',
    does: 'makes you the owner of the account',
    endpoint: '/set-up',
    body: `{"token": "TOKEN", "name": "Your name", "email": "you@example.com", ${PASSWORD}}`,
  },
  {
    path: '/invite',
    title: 'Accept an invitation',
    does: 'makes you a member of the account',
    endpoint: '/invitations/accept',
    body: `{"token": "TOKEN", "name": "Your name", ${PASSWORD}}`,
  },
  {
    path: '/reset',
    title: 'Choose a new password',
    does: 'replaces your password',
    endpoint: '/password-resets/accept',
    body: `{"token": "TOKEN", ${PASSWORD}}`,
  },
]

/** Where links of sign-in lead as long as the service has no workspace: what to do with the token after #. */
export function serveLinkPages(app: FastifyInstance, apiPath: string): void {
  for (const { path, title, does, endpoint, body } of pages) {
    const page = documentOf(
      title,
      `<h1>${title}</h1>
<p>This service has no pages for it yet. Send the token, which is what stands after <code>#</code> in the address; it
${does}, once:</p>
<pre><code>curl SERVICE${apiPath}${endpoint} -H 'Content-Type: application/json' -d '${body}'</code></pre>
<p><a href="/docs/guide/members.md">Members and sign-in</a> tells the rest.</p>`,
    )
    app.get(path, async (_request, reply) => reply.type('text/html; charset=utf-8').send(page))
  }
}
