/** Who may frame an agent's chat, as sources of the directive frame-ancestors; null: every site. */
export function frameAncestors(domains: string[] | null): string {
  if (domains === null) return '*'
  const hosts = new Set(domains.flatMap(hostsOf))
  return ["'self'", ...[...hosts].flatMap((host) => [`https://${host}`, `http://${host}`])].join(' ')
}

/** Whether the directive lets a page of this origin frame the chat. */
export function mayFrame(origin: string, domains: string[] | null): boolean {
  if (domains === null) return true
  const { protocol, host } = URL.parse(origin) ?? {}
  if (!host || (protocol !== 'https:' && protocol !== 'http:')) return false
  return domains.flatMap(hostsOf).some((allowed) => {
    const name = allowed.toLowerCase()
    return name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name
  })
}

/** `example.com` stands for its subdomains too, `*.example.com` for these only. */
function hostsOf(domain: string): string[] {
  const isAddress = /^[\d.]+(:\d+)?$/.test(domain)
  return domain.startsWith('*.') || isAddress ? [domain] : [domain, `*.${domain}`]
}
