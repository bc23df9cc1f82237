import { call, type InputOf, uploadSource } from '../app/api.ts'
import { typedUrl } from '../sources/typed-url.ts'
import { sentenceOf } from '../ui/state.tsx'

/** What a new agent reads first. */
export type FirstSource =
  | { kind: 'website'; address: string }
  | { kind: 'text'; name: string; text: string }
  | { kind: 'files'; files: File[] }

type Body = InputOf<'POST', '/agents/{agentId}/sources'>['body']

const waiting = new Map<string, FirstSource>()

/** Leaves the source to the page of the new agent, which adds it. */
export const leaveFirstSource = (agentId: string, source: FirstSource): void =>
  void waiting.set(agentId, source)

/** Returns what was left for this agent, once. */
export function takeFirstSource(agentId: string): FirstSource | undefined {
  const source = waiting.get(agentId)
  waiting.delete(agentId)
  return source
}

/** Adds the source and returns a sentence for each part that was refused. */
export async function addFirstSource(agentId: string, source: FirstSource): Promise<string[]> {
  const refused: string[] = []
  const note = (what: string) => (error: unknown) => void refused.push(`${what}: ${sentenceOf(error)}`)
  const add = (body: Body) => call('POST', '/agents/{agentId}/sources', { params: { agentId }, body })
  if (source.kind === 'files')
    for (const file of source.files) await uploadSource(agentId, file).catch(note(file.name))
  else if (source.kind === 'text')
    await add({ type: 'text', name: source.name, content: source.text }).catch(note('The text'))
  else await add({ type: 'link', linkType: 'crawl', ...typedUrl(source.address) }).catch(note(source.address))
  return refused
}
