const STYLE = `
  body { font: 16px/1.5 system-ui, sans-serif; color: #1c1917; background: #fafaf9; margin: 0 }
  main { max-width: 42rem; margin: 8vh auto; padding: 0 1.5rem }
  h1 { font-size: 1.9rem; margin: 0 0 .25rem }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .4rem 1.5rem; margin: 2rem 0 }
  dt { color: #57534e } dd { margin: 0 }
  pre { background: #1c1917; color: #fafaf9; padding: 1rem; border-radius: .5rem; white-space: pre-wrap; overflow-wrap: anywhere }
  code { overflow-wrap: anywhere } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem }
  iframe { width: 100%; height: 30rem; border: 1px solid #d6d3d1; border-radius: .75rem }
  table { border-collapse: collapse; display: block; overflow-x: auto } th, td { text-align: start; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #e7e5e4 }
  a { color: #1d4ed8 } a:focus-visible { outline: 3px solid #1d4ed8; outline-offset: 2px }
  @media (prefers-color-scheme: dark) {
    body { color: #e7e5e4; background: #1c1917 } dt { color: #a8a29e } pre { background: #0c0a09 } a { color: #93c5fd }
  }`

/** Renders a small page of the service itself. */
export const documentOf = (title: string, content: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${STYLE}</style></head><body><main>
${content}
</main></body></html>`
