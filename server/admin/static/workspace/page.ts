import type { Built } from './build.ts'

const FOLDER = '/workspace-assets/'

/** Returns the HTML document of every page; its script renders the page that belongs to the URL. */
export const workspacePage = (built: Built, base: string, nonce: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<meta name="parley-desk-worker" content="${base}${FOLDER}${built.worker}">
<meta property="csp-nonce" nonce="${nonce}">
<title>Parley</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%230b6b5d'/%3E%3Cpath d='M8 10h16v10H15l-5 4v-4H8z' fill='%23fff'/%3E%3C/svg%3E">
<link rel="stylesheet" href="${base}${FOLDER}${built.style}">
${built.preload.map((name) => `<link rel="modulepreload" href="${base}${FOLDER}${name}">`).join('\n')}
<script type="module" src="${base}${FOLDER}${built.script}"></script></head>
<body><div id="workspace"></div>
<noscript>The workspace needs JavaScript. The <a href="${base}/docs">guide</a> does not.</noscript></body></html>`
