import type { Static } from 'typebox'
import type { Db } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { addSite } from '../crawl/run/add-site.ts'
import { addPage } from '../notion/pages/add-page.ts'
import { fixedKeys } from '../search/answering/retrieve.ts'
import { type Account, addSource } from './add-source.ts'
import { dropFile, folderOf, keepFile } from './files.ts'
import type { SourceRow } from './queries.ts'
import type { NewFile } from './read-upload.ts'
import type { CreateSource } from './schema.ts'
import { sourceUrl } from './source-url.ts'
import { sizeOf } from './storage-limit.ts'

type Deps = { db: Db; jobs: Jobs; filesDir: string }
type New = Static<typeof CreateSource>

/** Adds a text, questions and answers, or a link. */
export async function createSource(
  ctx: Deps,
  account: Account,
  agentId: string,
  body: New,
): Promise<SourceRow> {
  switch (body.type) {
    case 'text': {
      const { type, name, content } = body
      return addSource(ctx, account, agentId, {
        type,
        name,
        content: json({ text: content }),
        size: sizeOf(content),
      })
    }
    case 'qna': {
      const { type, name, questions, answer, fixed } = body
      const content = json({ questions, answer })
      const size = sizeOf(answer, ...questions)
      const fixed_keys = fixed ? fixedKeys(questions) : null
      return addSource(ctx, account, agentId, { type, name, content, size, fixed_keys })
    }
    case 'link':
      return body.linkType === 'individual'
        ? addLink(ctx, account, agentId, body)
        : addSite(ctx, account, agentId, { ...body, linkType: body.linkType })
    case 'notionPage':
      return addPage(ctx, account, agentId, body)
  }
}

/** Adds one web page. Its size is not known until it has been read. */
export async function addLink(
  ctx: Deps,
  account: Account,
  agentId: string,
  { url: text, allowHttp }: { url: string; allowHttp?: boolean },
): Promise<SourceRow> {
  const url = sourceUrl(text)
  const metadata = json({ type: 'individual' })
  const link = {
    type: 'link' as const,
    name: url,
    url,
    link_type: 'individual',
    content: json({ allowHttp }),
    metadata,
    size: 0,
  }
  return addSource(ctx, account, agentId, link)
}

/** Adds an uploaded file. If it is refused, it is removed from the disk. */
export async function uploadSource(
  ctx: Deps,
  account: Account,
  agentId: string,
  { fields, file }: NewFile,
): Promise<SourceRow> {
  const id = newId()
  const path = await keepFile(ctx.filesDir, folderOf({ accountId: account.id, agentId }, id), file)
  const { filename, type: mediaType } = file
  try {
    return await addSource(ctx, account, agentId, {
      id,
      type: 'file',
      name: fields.name,
      content: json({ filename, mediaType, file: path, bytes: file.size }),
      metadata: json({ filename, mediaType }),
      size: 0,
    })
  } catch (error) {
    await dropFile(ctx.filesDir, path)
    throw error
  }
}
