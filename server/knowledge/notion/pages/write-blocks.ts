import { tableRows } from '../../documents/table-rows.ts'
import { type Block, contentOf, plainText } from '../client/wire.ts'
import type { SectionWriter } from './section-writer.ts'

/** What a block needs besides itself. */
type BlockReader = {
  children(block: Block): Promise<Block[]>
  /** Returns the rows of a database, one line each. */
  rows(databaseId: string): Promise<string[]>
}

const LISTS = ['bulleted_list_item', 'numbered_list_item', 'to_do']
const DEEPEST = 20

/** Converts blocks to text. Headings and toggles open sections; lists, tables and code keep their lines. */
export async function writeBlocks(
  blocks: readonly Block[],
  writer: SectionWriter,
  reader: BlockReader,
  depth = 0,
): Promise<void> {
  if (depth > DEEPEST) return
  let number = 0
  let before = ''
  for (const block of blocks) {
    number = block.type === 'numbered_list_item' ? number + 1 : 0
    const continues = LISTS.includes(block.type) && LISTS.includes(before)
    // The lines of a list item's children belong to the item.
    if (!continues && depth === 0) writer.endParagraph()
    await writeBlock(block, writer, reader, { depth, number })
    before = block.type
  }
  if (depth === 0) writer.endParagraph()
}

type BlockPosition = { depth: number; number: number }

async function writeBlock(
  block: Block,
  writer: SectionWriter,
  reader: BlockReader,
  { depth, number }: BlockPosition,
): Promise<void> {
  const content = contentOf(block)
  const text = plainText(content.rich_text)
  const inside = async (deeper: number): Promise<void> => {
    if (block.has_children) await writeBlocks(await reader.children(block), writer, reader, deeper)
  }
  const level = /^heading_([1-6])$/.exec(block.type)?.[1]
  if (level) {
    writer.heading(Number(level), text)
    return inside(0)
  }
  switch (block.type) {
    case 'bulleted_list_item':
      writer.line(`- ${text}`)
      return inside(depth + 1)
    case 'numbered_list_item':
      writer.line(`${number}. ${text}`)
      return inside(depth + 1)
    case 'to_do':
      writer.line(`- ${text}${content.checked ? ' (done)' : ''}`)
      return inside(depth + 1)
    case 'toggle':
      if (block.has_children && text.trim() !== '') return writer.under(text, () => inside(0))
      writer.paragraph(text)
      return inside(depth)
    case 'code':
      writer.endParagraph()
      for (const line of text.split('\n')) writer.line(line)
      writer.endParagraph()
      return writer.paragraph(plainText(content.caption))
    case 'table':
      return writeTable(await reader.children(block), content.has_column_header === true, writer)
    case 'child_page':
      return writer.line(`- ${content.title ?? ''}`)
    case 'child_database':
      writer.endParagraph()
      if (content.title) writer.paragraph(content.title)
      for (const row of await reader.rows(block.id)) writer.line(row)
      return writer.endParagraph()
    case 'equation':
      return writer.paragraph(content.expression ?? '')
    case 'bookmark':
    case 'embed':
    case 'link_preview':
      return writer.paragraph([plainText(content.caption), content.url ?? ''].filter(Boolean).join(': '))
    case 'image':
    case 'video':
    case 'file':
    case 'pdf':
    case 'audio':
      return writer.paragraph(plainText(content.caption))
    default:
      // Paragraphs, quotes and callouts are written as text. Of columns, synced blocks and unknown blocks, only the
      // children are.
      if (depth > 0) writer.line(text)
      else for (const paragraph of text.split(/\n{2,}/)) writer.paragraph(paragraph)
      return inside(depth)
  }
}

function writeTable(rows: Block[], hasHeader: boolean, writer: SectionWriter): void {
  const cells = rows.map((row) => (contentOf(row).cells ?? []).map(plainText))
  writer.endParagraph()
  for (const row of tableRows(cells, hasHeader ? 1 : 0)) writer.line(row)
  writer.endParagraph()
}
