import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import MarkdownIt from 'markdown-it'
import type { Context } from '../../../context.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { basePathOf } from '../../../platform/http/server/own-origin.ts'
import { type RawRoute, rawRoute } from '../../../platform/http/server/serve-raw.ts'
import { escapeHtml } from '../../../platform/text/safety/escape-html.ts'
import { listDocs, showDoc } from './contract.ts'
import { documentOf } from './page-document.ts'

const docs = resolve(import.meta.dirname, '../../../../docs')
const FOLDERS = { guide: 'Guide', operations: 'Operations' }

const markdown = new MarkdownIt({ html: false })
// The pages link to headings, so each heading needs an id.
markdown.renderer.rules.heading_open = (tokens, at) => {
  const id = (tokens[at + 1]?.content ?? '')
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(/\s/g, '-')
  return `<${tokens[at]?.tag} id="${id}">`
}

type Page = { folder: string; file: string; title: string; text: string }

function readPages(): Page[] {
  return Object.keys(FOLDERS).flatMap((folder) =>
    readdirSync(resolve(docs, folder))
      .filter((file) => file.endsWith('.md'))
      .map((file) => {
        const text = readFileSync(resolve(docs, folder, file), 'utf8')
        return { folder, file, text, title: /^# (.+)$/m.exec(text)?.[1] ?? file }
      }),
  )
}

/** Serves the guide and the pages for operators from the repository. */
export function docsRoutes({ config }: Pick<Context, 'config'>): RawRoute[] {
  const base = basePathOf(config)
  const pages = readPages()
  const lists = Object.entries(FOLDERS).map(([folder, title]) => {
    const links = pages
      .filter((page) => page.folder === folder)
      .map((page) => `<li><a href="${base}/docs/${folder}/${page.file}">${escapeHtml(page.title)}</a></li>`)
    return `<h2>${title}</h2><ul>${links.join('')}</ul>`
  })
  const contents = documentOf(
    'Parley: documentation',
    `<h1>Documentation</h1>${lists.join('')}<p><a href="${base}/">Workspace</a></p>`,
  )
  const sendContents = rawRoute(listDocs, async ({ reply }) =>
    reply.type('text/html; charset=utf-8').send(contents),
  )
  const sendPage = rawRoute(showDoc, async ({ params: { folder, file }, reply }) => {
    const page = pages.find((one) => one.folder === folder && one.file === file)
    if (!page) throw new ApiError('ROUTE_NOT_FOUND')
    const html = markdown.render(page.text)
    return reply
      .type('text/html; charset=utf-8')
      .send(
        documentOf(
          escapeHtml(`${page.title} – Parley`),
          `<p><a href="${base}/docs">Documentation</a></p>${html}`,
        ),
      )
  })
  return [sendContents, sendPage]
}
