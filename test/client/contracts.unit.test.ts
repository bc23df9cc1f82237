import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import type { AnswerMetadata, StoredMessage } from '../../client/events.ts'
import type { ChatBody, Parley, TrialBody } from '../../client/parley.ts'
import { PATHS } from '../../client/paths.ts'
import type * as conversations from '../../server/conversations/contract.ts'
import type * as playground from '../../server/conversations/playground/contract.ts'
import { contracts } from '../../server/features.ts'

/**
 * Users copy client/, so it cannot import the contracts. Instead, the compiler and these tests compare its types and
 * paths with them.
 */

/** What becomes a body of this type as JSON, which leaves out what is undefined. */
type BeforeJson<T> = { [F in keyof T]: object extends Pick<T, F> ? T[F] | undefined : T[F] }
/** What a client may send: members with a default may be omitted. */
type Sent<E extends { body: unknown }> = BeforeJson<
  Omit<Static<E['body'] & object>, 'stream' | 'includeServerActions'>
>
type Received<E extends { success: { schema: unknown } }> = Static<E['success']['schema'] & object>

/** Fails to compile when the first type cannot be used as the second. */
const isUsableAs = <From extends To, To>(): void => void (null as From | null)

test('the types of the client are those of the contracts', () => {
  isUsableAs<ChatBody, Sent<typeof conversations.chat>>()
  isUsableAs<TrialBody, Sent<typeof playground.runPlayground>>()
  isUsableAs<Received<typeof conversations.listMessages>, Awaited<ReturnType<Parley['messages']>>>()
  isUsableAs<Received<typeof conversations.listMessages>['data'][number], StoredMessage>()
  isUsableAs<Received<typeof conversations.stop>['data'], Awaited<ReturnType<Parley['stop']>>>()
  isUsableAs<
    Omit<Received<typeof conversations.chat>['data']['metadata'] & { messageId: string }, never>,
    AnswerMetadata
  >()
})

test('the paths of the client are those of the contracts', () => {
  for (const [name, path] of Object.entries(PATHS))
    assert.equal(contracts.find((endpoint) => endpoint.name === name)?.path, path)
})
