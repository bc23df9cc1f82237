/** The members that are read from responses of the public REST API. Any of them may be missing or of another type. */

export type RichText = { plain_text?: string }[]

export type Block = {
  id: string
  type: string
  has_children?: boolean
  /** The content is in a member with the name of the type. */
  [content: string]: unknown
}

type BlockContent = {
  rich_text?: RichText
  caption?: RichText
  cells?: RichText[]
  title?: string
  url?: string
  expression?: string
  checked?: boolean
  has_column_header?: boolean
}

export type Property = { type?: string; [value: string]: unknown }

export type Page = {
  id: string
  url?: string
  last_edited_time?: string
  archived?: boolean
  in_trash?: boolean
  properties?: Record<string, Property>
  /** The title of a database. */
  title?: RichText
}

export type List<T> = { results: T[]; next_cursor: string | null; has_more: boolean }

/** Returns the content of a block of any type, without members that have an unexpected type. */
export function contentOf(block: Block): BlockContent {
  const content = block[block.type]
  if (typeof content !== 'object' || content === null) return {}
  const { rich_text, caption, cells, title, url, expression, checked, has_column_header } =
    content as BlockContent
  return {
    ...(Array.isArray(rich_text) ? { rich_text } : {}),
    ...(Array.isArray(caption) ? { caption } : {}),
    ...(Array.isArray(cells) ? { cells } : {}),
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof url === 'string' ? { url } : {}),
    ...(typeof expression === 'string' ? { expression } : {}),
    checked: checked === true,
    has_column_header: has_column_header === true,
  }
}

export function plainText(text: RichText | undefined): string {
  if (!Array.isArray(text)) return ''
  return text.map((piece) => (typeof piece?.plain_text === 'string' ? piece.plain_text : '')).join('')
}

/** Returns the text of a page's title property or of a database's title. */
export function titleOf({ properties, title }: Page): string | null {
  const property = Object.values(properties ?? {}).find((candidate) => candidate?.type === 'title')
  const text = plainText((property?.title as RichText | undefined) ?? title)
  return text.replace(/\s+/g, ' ').trim().slice(0, 200).toWellFormed() || null
}

/** Returns the URL for citations, or null when it is not a web address. */
export function webAddress(url: string | undefined): string | null {
  const parsed = typeof url === 'string' && url.length <= 2_048 ? URL.parse(url) : null
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed.href : null
}
