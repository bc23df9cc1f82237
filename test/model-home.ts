import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { providers } from '../server/ai/catalogue/catalogue.ts'
import { type ModelServer, startModelServer } from './fakes/model-server.ts'
import type { ModelRequest } from './fakes/reply.ts'
import { type Client, type Service, startService } from './start.ts'
import { trained } from './until.ts'

/** Names by which the providers' packages know what a model takes: Claude's newer models take no temperature. */
const NAMES = {
  openai: 'gpt-4o-fake',
  'openai-compatible': 'fake',
  'openai-responses': 'gpt-6-luna',
  anthropic: 'claude-haiku-5-5',
  google: 'gemini-3.5-flash-lite',
}

export type Provider = (typeof providers)[number]

export type ModelHome = {
  server: ModelServer
  service: Service
  client: Client
  /** Returns a new agent of a provider with a document, an action that runs here and one that the application runs. */
  agentOf(provider: Provider): Promise<string>
  close(): Promise<void>
}

/** Starts a service with one model of each provider, all served by a strict fake. `entry` is added to their entries. */
export async function startModelHome(
  settings: Record<string, string> = {},
  entry: object = {},
): Promise<ModelHome> {
  const server = await startModelServer({ isStrict: true })
  const folder = await mkdtemp(join(tmpdir(), 'model-home-'))
  const file = join(folder, 'models.json')
  const models = providers.map((provider) => ({
    id: provider,
    provider,
    name: NAMES[provider],
    baseUrl: `${server.url}/${provider === 'google' ? 'v1beta' : 'v1'}`,
    apiKey: 'sk-test-key',
    vision: true,
    searches: true,
    ...entry,
  }))
  await writeFile(file, JSON.stringify({ models }))
  const service = await startService({ MODELS_FILE: file, ...settings })
  const client = await service.account()
  return {
    server,
    service,
    client,
    async agentOf(provider) {
      const made = { name: provider, model: provider, instructions: 'You help the customers of Halo.' }
      const { id } = (await client.request('POST', '/agents', made)).body
      const source = {
        type: 'text',
        name: 'Warranty',
        content: 'The Halo lamp has a warranty of five years.',
      }
      await trained(service, (await client.request('POST', `/agents/${id}/sources`, source)).body.id)
      const properties = { place: { type: 'string' } }
      for (const action of [
        { type: 'collect-leads', name: 'note_person', description: 'Notes who asks' },
        {
          type: 'client',
          name: 'show_map',
          description: 'Shows the way',
          inputs: { type: 'object', properties },
        },
      ])
        assert.equal((await client.request('POST', `/agents/${id}/actions`, action)).status, 201)
      return id
    },
    async close() {
      await service.close()
      await server.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** Returns the requests that asked for answers. */
export const answersAsked = ({ requests }: ModelServer): ModelRequest[] =>
  requests.filter(({ body }) => !/Write a title|Summarise this conversation/.test(JSON.stringify(body)))

/** The parts of a request, whatever its protocol calls them: the messages with their roles, and what stands before them. */
export function partsOf({ body }: ModelRequest): { head: unknown; messages: { role: string }[] } {
  const { messages, input, contents, system, systemInstruction, tools } = body
  return { head: { system, systemInstruction, tools }, messages: messages ?? input ?? contents }
}
