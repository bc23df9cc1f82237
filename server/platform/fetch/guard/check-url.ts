import { FetchFailure } from '../failures/fetch-failure.ts'
import { isPrivateHostAllowed, type PrivateHosts } from './private-hosts.ts'

// The ports that the Fetch Standard blocks for HTTP (mail, shells, file sharing, …).
const closedPorts = new Set(
  (
    '0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 ' +
    '123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 ' +
    '990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080'
  ).split(' '),
)

/**
 * Parses a URL once, with the parser that the connection uses, too. Throws FetchFailure `bad_url` or
 * `unsupported_scheme`. `base` is the page that redirected here.
 */
export function checkUrl(address: string | URL, privateHosts: PrivateHosts, base?: URL): URL {
  const url = address instanceof URL ? new URL(address) : URL.parse(address, base?.href)
  const page = base ? 'The page redirects to an address that' : 'This address'
  if (!url)
    throw new FetchFailure(
      'bad_url',
      `${page} is not a valid URL. It should look like https://example.com/page.`,
    )
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new FetchFailure('unsupported_scheme', `${page} must begin with http:// or https://.`)
  if (url.username || url.password)
    throw new FetchFailure('bad_url', `${page} must not contain a user name or password.`)
  if (closedPorts.has(url.port) && !isPrivateHostAllowed(privateHosts, url))
    throw new FetchFailure('bad_url', `${page} uses port ${url.port}, which does not serve web pages.`)
  url.hash = ''
  return url
}
