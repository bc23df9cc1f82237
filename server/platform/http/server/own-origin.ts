import type { Config } from '../../../config.ts'

/** Returns the path of PUBLIC_URL, such as `/parley`, below which a proxy serves this service; '' without one. */
export const basePathOf = ({ publicUrl }: Pick<Config, 'publicUrl'>): string =>
  publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '')

/** Returns the URL at which the service is reached according to its configuration. */
export const originOf = ({ publicUrl, host, port }: Pick<Config, 'publicUrl' | 'host' | 'port'>): string =>
  publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
