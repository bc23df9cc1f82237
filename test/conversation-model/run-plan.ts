import { setTimeout as wait } from 'node:timers/promises'
import { checkAnswers } from './check-answers.ts'
import { checkProgress, checkState } from './check-state.ts'
import type { Plan } from './commands.ts'
import { perform } from './perform.ts'
import { settle } from './settle.ts'
import { readState } from './state.ts'
import { stepOf } from './step.ts'
import { openTalk, type Talk } from './talk.ts'
import type { World } from './world.ts'

/**
 * Performs a plan in a new conversation and checks everything that must hold. Throws an error that includes the
 * journal.
 */
export async function runPlan(world: World, plan: Plan): Promise<void> {
  const talk = await openTalk(world)
  try {
    for (const commands of plan) await runBatch(talk, commands)
    await settle(talk)
  } catch (error) {
    const { message } = error as Error
    throw new Error(`${message}\n\n${talk.journal.join('\n')}\n\n${JSON.stringify(talk.state)}`, {
      cause: error,
    })
  }
}

async function runBatch(talk: Talk, commands: Plan[number]): Promise<void> {
  const before = talk.state
  const done = await Promise.all(
    commands.map(async (command) => {
      await wait(command.after)
      return perform(talk, command)
    }),
  )
  const after = await readState(talk.world.inside, talk.conversationId)
  talk.note(`${after.status}; ${after.messages.length} messages; ${after.generations.at(-1)?.status}`)
  talk.state = after
  checkAnswers(talk, stepOf(before, commands, done.flat(), after))
  checkProgress(before, after)
  checkState(talk, after)
}
