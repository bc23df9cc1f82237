/**
 * The hosts that an operator exempts from the address check: the name in the URL parser's form, with its ports or
 * every port.
 */
export type PrivateHosts = ReadonlyMap<string, 'every' | ReadonlySet<string>>

const entryForm = /^(\[[^\]]+\]|[^:[\]]+)(?::(\d{1,5}))?$/

/** Parses the entries `host`, `host:port`, `::1` or `[::1]:port`. Throws an Error that names a malformed one. */
export function parsePrivateHosts(entries: readonly string[]): PrivateHosts {
  const hosts = new Map<string, 'every' | Set<string>>()
  for (const entry of entries) {
    const bracketed = (entry.match(/:/g)?.length ?? 0) > 1 && !entry.startsWith('[') ? `[${entry}]` : entry
    const [, host, port] = entryForm.exec(bracketed.trim()) ?? []
    const url = host === undefined ? null : URL.parse(`http://${host}/`)
    if (url?.pathname !== '/' || url.username || Number(port ?? 1) > 65_535)
      throw new Error(`"${entry}" is not a host or host:port`)
    const name = hostName(url)
    const known = hosts.get(name)
    if (port === undefined || known === 'every') hosts.set(name, 'every')
    else hosts.set(name, (known ?? new Set()).add(String(Number(port))))
  }
  return hosts
}

/** Returns the URL's host without the dot that may end a fully qualified domain name. */
function hostName(url: URL): string {
  return url.hostname.replace(/\.$/, '')
}

export function isPrivateHostAllowed(hosts: PrivateHosts, url: URL): boolean {
  const ports = hosts.get(hostName(url))
  if (ports === undefined) return false
  return ports === 'every' || ports.has(url.port || (url.protocol === 'https:' ? '443' : '80'))
}
