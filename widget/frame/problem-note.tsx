import type { Chat } from './chat.ts'
import { Icon } from './icon.tsx'
import type { Problem, State } from './state.ts'

const LABELS = { send: 'Retry', load: 'Retry', ask: 'Ask again' }

export function ProblemNote({ chat, state, problem }: { chat: Chat; state: State; problem: Problem }) {
  return (
    <div class="problem" role="alert">
      <Icon name="warning" />
      <p dir="auto">
        {state.outgoing && problem.remedy === 'send' ? 'Your message was not sent. ' : ''}
        {problem.sentence}
      </p>
      <div class="problem-buttons">
        {problem.remedy && (
          <button type="button" class="text-button" onClick={chat.remedy}>
            {LABELS[problem.remedy]}
          </button>
        )}
        {state.outgoing && (
          <button type="button" class="text-button" onClick={chat.discard}>
            Discard
          </button>
        )}
      </div>
    </div>
  )
}
