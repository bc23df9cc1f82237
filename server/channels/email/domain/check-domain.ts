import type { Resolver } from 'node:dns/promises'
import type { Static } from 'typebox'
import { oneLine } from '../../../platform/mail/mail-address.ts'
import type { checkMailDomain } from './contract.ts'

type Finding = Static<typeof checkMailDomain.success.schema>['findings'][number]
type Resolving = Pick<Resolver, 'resolveTxt' | 'cancel'>

const MAX_LENGTH = 1_000
/** Of all name servers together. */
const MAX_MS = 10_000
/** An organisation has its domain within the last labels of a name. */
const MAX_ABOVE = 4

/** Reads SPF (RFC 7208), DKIM (RFC 6376) and DMARC (RFC 7489) of a domain. `host` is the server that sends its mails. */
export function checkDomain(
  resolver: Resolving,
  domain: string,
  { host, selector, maxMs = MAX_MS }: { host: string; selector: string | null; maxMs?: number },
): Promise<Finding[]> {
  const timer = setTimeout(() => resolver.cancel(), maxMs)
  return Promise.all([
    spfOf(resolver, domain, host),
    dkimOf(resolver, domain, selector),
    dmarcOf(resolver, domain),
  ]).finally(() => clearTimeout(timer))
}

/** Returns the texts of a name that begin with a version; null if the name servers do not answer. */
async function recordsOf(resolver: Resolving, name: string, version: RegExp): Promise<string[] | null> {
  try {
    const records = await resolver.resolveTxt(name)
    return records.map((parts) => oneLine(parts.join(''), MAX_LENGTH)).filter((text) => version.test(text))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    return code === 'ENOTFOUND' || code === 'ENODATA' ? [] : null
  }
}

const SILENT = 'The name servers of the domain did not answer in time. Try it again in a moment.'

const silent = (check: Finding['check'], name: string): Finding => ({
  check,
  result: 'unknown',
  name,
  found: null,
  advice: SILENT,
  suggestion: null,
})

async function spfOf(resolver: Resolving, domain: string, host: string): Promise<Finding> {
  const records = await recordsOf(resolver, domain, /^v=spf1(?:\s|$)/i)
  if (records === null) return silent('spf', domain)
  const [found = null] = records
  const about = { check: 'spf', name: domain, found } as const
  if (found === null)
    return {
      ...about,
      result: 'missing',
      advice: `Enter this TXT record, or the one that the provider of ${host} names. Servers then know who may send for the domain.`,
      suggestion: `v=spf1 mx a:${host} ~all`,
    }
  const problem =
    records.length > 1
      ? 'There are several records for SPF, so none counts. Join them into one.'
      : /[\s]\+?all(?:\s|$)/i.test(found)
        ? 'The record allows everybody to send for the domain. End it with ~all or -all.'
        : /[\s][~?-]all(?:\s|$)|\bredirect=/i.test(found)
          ? null
          : 'The record does not say what holds for other servers. End it with ~all or -all.'
  return { ...about, result: problem === null ? 'ok' : 'problem', advice: problem, suggestion: null }
}

async function dkimOf(resolver: Resolving, domain: string, selector: string | null): Promise<Finding> {
  const name = `${selector ?? 'SELECTOR'}._domainkey.${domain}`
  if (selector === null)
    return {
      ...silent('dkim', name),
      advice:
        'Enter the selector: the value of s= in the header DKIM-Signature of a mail that you have sent. If there is no such header, have your mail provider sign your mails.',
    }
  const records = await recordsOf(resolver, name, /(?:^|;)\s*p\s*=/i)
  if (records === null) return silent('dkim', name)
  const [found = null] = records
  const about = { check: 'dkim', name, found, suggestion: null } as const
  if (found === null)
    return {
      ...about,
      result: 'missing',
      advice: 'There is no key for this selector. Enter the record that your mail provider shows for it.',
    }
  const isRevoked = /(?:^|;)\s*p\s*=\s*(?:;|$)/i.test(found)
  return {
    ...about,
    result: isRevoked ? 'problem' : 'ok',
    advice: isRevoked ? 'The key was withdrawn. Enter the new one of your mail provider.' : null,
  }
}

/** Returns the domain and those above it that are asked for DMARC, the nearest first. */
function placesOf(domain: string): string[] {
  const labels = domain.split('.')
  const above = labels.slice(1).map((_, at) => labels.slice(at + 1))
  return [labels, ...above.slice(0, -1).slice(-MAX_ABOVE)].map((place) => place.join('.'))
}

/** Without a record of its own, a domain has the policy of its nearest parent that has one. */
async function dmarcOf(resolver: Resolving, domain: string): Promise<Finding> {
  const name = `_dmarc.${domain}`
  for (const asked of placesOf(domain)) {
    const place = `_dmarc.${asked}`
    const records = await recordsOf(resolver, place, /^v=DMARC1(?:\s*;|$)/i)
    if (records === null) return silent('dmarc', place)
    const [found] = records
    if (found === undefined) continue
    const policy = /;\s*p\s*=\s*(none|quarantine|reject)/i.exec(found)?.[1]?.toLowerCase()
    const problem =
      records.length > 1
        ? 'There are several records for DMARC, so none counts. Keep one.'
        : policy === undefined
          ? 'The record has no valid policy. Add p=none, p=quarantine or p=reject.'
          : null
    const advice =
      policy === 'none' && problem === null
        ? 'Forged mails are only reported. When the reports show that yours pass, choose p=quarantine.'
        : problem
    return {
      check: 'dmarc',
      result: problem === null ? 'ok' : 'problem',
      name: place,
      found,
      advice,
      suggestion: null,
    }
  }
  return {
    check: 'dmarc',
    result: 'missing',
    name,
    found: null,
    advice: 'Enter this TXT record. Large providers refuse or hide mails of domains without one.',
    suggestion: `v=DMARC1; p=none; rua=mailto:postmaster@${domain}`,
  }
}
