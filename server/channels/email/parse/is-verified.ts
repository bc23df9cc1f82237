/**
 * Returns whether the receiving server has verified the domain of the sender (RFC 8601): by DMARC, or by a signature or
 * an envelope of that domain. `headers` are those named Authentication-Results, the newest first. Only those of the
 * server that wrote the newest count, because the sender may have written the others.
 */
export function isVerified(headers: string[], from: string | null): boolean {
  const results = headers.map((header) => withoutComments(header).split(';'))
  const server = results[0]?.[0]?.trim().toLowerCase()
  return results
    .filter(([name = '']) => name.trim().toLowerCase() === server)
    .flat()
    .some((result) => verifies(result, from))
}

/** A comment may hold comments, and a semicolon. */
function withoutComments(header: string): string {
  let depth = 0
  let words = ''
  for (const letter of header) {
    if (letter === '(') depth++
    else if (letter === ')') depth = Math.max(0, depth - 1)
    else if (depth === 0) words += letter
  }
  return words
}

function verifies(result: string, from: string | null): boolean {
  const [, method] = /^\s*(dmarc|dkim|spf)\s*=\s*pass(?:\s|$)/i.exec(result) ?? []
  if (method === undefined || from === null) return false
  if (method.toLowerCase() === 'dmarc') return true
  const [, about = ''] = /\s(?:header\.[di]|smtp\.mailfrom)\s*=\s*"?([^\s"]+)/i.exec(result) ?? []
  const domain = about.slice(about.lastIndexOf('@') + 1).toLowerCase()
  const sender = from.slice(from.lastIndexOf('@') + 1).toLowerCase()
  return domain !== '' && (sender === domain || sender.endsWith(`.${domain}`))
}
