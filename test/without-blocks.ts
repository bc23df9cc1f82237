/** Returns a message as its author wrote it, without the blocks that the service puts before the newest one. */
export const withoutBlocks = (content: string): string =>
  content.replace(/^<(?:company|data|earlier)\b[^>]*>[\s\S]*<\/(?:company|data)-[0-9a-f]+>\n\n/, '')
