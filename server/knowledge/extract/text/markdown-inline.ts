// Patterns for emphasis take quadratic time, and a line this long was not written as Markdown.
const longestLine = 10_000

/**
 * Converts one line of Markdown to its visible text. Links, images, emphasis, code marks, tags and escapes are
 * resolved.
 */
export function inlineText(source: string): string {
  if (source.length > longestLine) return source.replace(/\s+/g, ' ').trim()
  const kept: string[] = []
  // Code and escaped characters are replaced by placeholders, so that nothing in them is parsed as syntax.
  const keep = (text: string): string => `\ue000${kept.push(text) - 1}\ue000`
  return source
    .replaceAll('\ue000', '')
    .replace(/(`+)(.+?)\1(?!`)/g, (_all, _marks, code: string) => keep(code.trim()))
    .replace(/\\([!-/:-@[-`{-~])/g, (_all, letter: string) => keep(letter))
    .replace(/<((?:https?|mailto):[^>\s]+)>/g, (_all, link: string) => keep(link))
    .replace(/!\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\[([^\]]+)\]\((?:[^()]|\([^()]*\))*\)/g, '$1')
    .replace(/\[([^\]]+)\]\[[^\]]*\]/g, '$1')
    .replace(/<\/?[a-z][^<>]*>/gi, '')
    .replaceAll('&nbsp;', ' ')
    .replace(/(\*\*\*|\*\*|\*|~~)(?=\S)(.*?\S)\1/g, '$2')
    .replace(/(?<![\p{L}\p{N}_])(___|__|_)(?=\S)(.*?\S)\1(?![\p{L}\p{N}_])/gu, '$2')
    .replace(/\ue000(\d+)\ue000/g, (_all, index: string) => kept[Number(index)] ?? '')
    .replace(/\s+/g, ' ')
    .trim()
}
