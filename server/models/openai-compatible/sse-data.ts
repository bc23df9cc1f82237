/**
 * Reads the `data:` lines of a server-sent event stream as its bytes come. Events of these providers are one
 * line each; comments, other fields and empty lines are passed over.
 */
export function createDataReader(): { push(bytes: Uint8Array): string[] } {
  const decoder = new TextDecoder()
  let rest = ''
  return {
    push(bytes) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split(/\r?\n/)
      rest = lines.pop() ?? ''
      const found: string[] = []
      for (const line of lines) if (line.startsWith('data:')) found.push(line.slice(line[5] === ' ' ? 6 : 5))
      return found
    },
  }
}
