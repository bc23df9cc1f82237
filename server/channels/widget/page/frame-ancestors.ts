/** Returns the sources for the directive frame-ancestors of an agent's chat; null: every site may embed it. */
export function frameAncestors(domains: string[] | null): string {
  if (domains === null) return '*'
  const hosts = new Set(domains.flatMap(hostsOf))
  return ["'self'", ...[...hosts].flatMap((host) => [`https://${host}`, `http://${host}`])].join(' ')
}

/** Returns whether the directive allows a page of this origin to embed the chat. */
export function mayFrame(origin: string, domains: string[] | null): boolean {
  if (domains === null) return true
  const { protocol, host } = URL.parse(origin) ?? {}
  if (!host || (protocol !== 'https:' && protocol !== 'http:')) return false
  return domains.flatMap(hostsOf).some((allowed) => {
    const name = allowed.toLowerCase()
    return name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name
  })
}

/** `example.com` includes its subdomains; `*.example.com` means only these. */
function hostsOf(domain: string): string[] {
  const isAddress = /^[\d.]+(:\d+)?$/.test(domain)
  return domain.startsWith('*.') || isAddress ? [domain] : [domain, `*.${domain}`]
}
