import { randomUUID } from 'node:crypto'

export type FakeBlock = { id: string; type: string; content: object; children?: FakeBlock[] }

export type FakePage = {
  id: string
  title: string
  /** The time in ISO format, rounded to the minute as in the real API. */
  edited: string
  blocks: FakeBlock[]
  inTrash?: boolean
  /** The columns of a database row besides the title. */
  properties?: Record<string, object>
}

const richText = (text: string): object[] =>
  // The text is split in two pieces, like a text with a bold word.
  [text.slice(0, 5), text.slice(5)]
    .filter(Boolean)
    .map((piece) => ({ type: 'text', text: { content: piece }, annotations: {}, plain_text: piece }))

/** Returns a block with rich text. */
export const block = (type: string, text: string, children?: FakeBlock[], more: object = {}): FakeBlock => ({
  id: randomUUID(),
  type,
  content: { rich_text: richText(text), ...more },
  ...(children ? { children } : {}),
})

export const tableBlock = (rows: string[][]): FakeBlock => ({
  id: randomUUID(),
  type: 'table',
  content: { table_width: rows[0]?.length ?? 0, has_column_header: true, has_row_header: false },
  children: rows.map((cells) => ({
    id: randomUUID(),
    type: 'table_row',
    content: { cells: cells.map(richText) },
  })),
})

export const fakePage = (title: string, blocks: FakeBlock[], more: Partial<FakePage> = {}): FakePage => ({
  id: randomUUID(),
  title,
  edited: '2026-01-05T10:00:00.000Z',
  blocks,
  ...more,
})

export const wireOfBlock = ({ id, type, content, children }: FakeBlock): object => ({
  object: 'block',
  id,
  type,
  has_children: (children?.length ?? 0) > 0,
  archived: false,
  in_trash: false,
  [type]: content,
})

export const wireOfPage = ({ id, title, edited, inTrash = false, properties = {} }: FakePage): object => ({
  object: 'page',
  id,
  created_time: '2026-01-01T00:00:00.000Z',
  last_edited_time: edited,
  archived: inTrash,
  in_trash: inTrash,
  url: `https://workspace.example/${id.replaceAll('-', '')}`,
  properties: {
    ...properties,
    Name: { id: 'title', type: 'title', title: richText(title) },
  },
})
