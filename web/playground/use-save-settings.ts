import type { Agent } from '../app/api.ts'
import { useSaveAgent } from '../deploy/use-save-agent.ts'
import { SAVED_UNREAD, useAnsweringModel } from '../instructions/answering-model.tsx'
import type { Settings } from './settings.ts'

/** Returns the mutation that saves settings which were tried out, so that customers get them too. */
export function useSaveSettings(agent: Agent, { model: chosen }: Settings) {
  const { isBuiltin } = useAnsweringModel(chosen)
  const save = useSaveAgent(
    agent,
    isBuiltin ? SAVED_UNREAD : 'Saved. The next answer to a customer follows it.',
  )
  return {
    isPending: save.isPending,
    error: save.error,
    mutate: ({ instructions, model, temp }: Settings): void =>
      save.mutate({ instructions, model, temp: Number(temp) }),
  }
}
