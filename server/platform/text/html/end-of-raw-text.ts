/** Returns the index of the end tag of an element like `script`, or of the end of the text. */
export function endOfRawText(html: string, name: string, from: number): number {
  const close = new RegExp(`</${name}[\\s/>]`, 'gi')
  close.lastIndex = from
  return close.exec(html)?.index ?? html.length
}
