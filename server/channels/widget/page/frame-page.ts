import { escapeHtml } from '../../../platform/text/safety/escape-html.ts'
import type { Bundle } from './bundle.ts'

type Names = Pick<Bundle, 'script' | 'style'>
/** `base` is the path below which a proxy serves the service. */
type Files = { bundle: Names; base: string }

export const scriptPath = ({ script }: Names): string => `/widget-assets/frame.${script.hash}.js`
export const stylePath = ({ style }: Names): string => `/widget-assets/frame.${style.hash}.css`

/** The page inside the iframe; its script requests everything else. */
export const framePage = (files: Files, agent: { id: string; name: string; theme: string }): string =>
  page(
    files,
    `Chat with ${agent.name}`,
    ` data-agent="${escapeHtml(agent.id)}" data-theme="${escapeHtml(agent.theme)}"`,
    `<div id="chat"></div>
<noscript><p class="problem-page">This chat needs JavaScript.</p></noscript>`,
  )

/** What the panel shows when there is no chat. The script reports this to the embedding page. */
export const problemPage = (files: Files, title: string, sentence: string): string =>
  page(
    files,
    title,
    '',
    `<main class="problem-page"><h1>${escapeHtml(title)}</h1><p>${escapeHtml(sentence)}</p></main>`,
  )

const page = (
  { bundle, base }: Files,
  title: string,
  attributes: string,
  body: string,
): string => `<!doctype html>
<html lang="en"${attributes}><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${base}${stylePath(bundle)}"></head>
<body>${body}
<script src="${base}${scriptPath(bundle)}"></script></body></html>`
