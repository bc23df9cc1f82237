const FOLDER = '/workspace-assets/'
/** The script of this page, or that of this worker. */
const script =
  globalThis.document?.querySelector<HTMLScriptElement>(`script[src*="${FOLDER}"]`)?.src ??
  globalThis.location?.href ??
  ''

/** The path below which a proxy serves the workspace, such as `/parley`; '' without one. */
export const base = URL.parse(script)?.pathname.split(FOLDER)[0] ?? ''

/** The URL of the service. */
export const home = `${globalThis.location?.origin}${base}`
