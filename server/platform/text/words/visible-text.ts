/** Matches a link in Markdown as passages have them. */
const LINK = /\[([^\][\n]{1,500})\]\((?:https?:\/\/|mailto:|tel:)[^\s()]{1,2000}\)/g
const BOLD = /\*\*(?=\S)([^*\n]{1,2000})\*\*/g
const CODE = /(?<!`)`([^`\n]{1,500})`(?!`)/g

/**
 * Returns a passage as its reader sees it, without the marks of links, bold text and code within a line. Whatever counts
 * or compares words uses this.
 */
export function visibleText(text: string): string {
  const words = text.includes('](') ? text.replace(LINK, '$1') : text
  const plain = words.includes('**') ? words.replace(BOLD, '$1') : words
  return plain.includes('`') ? plain.replace(CODE, '$1') : plain
}
