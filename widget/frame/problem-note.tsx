import type { Chat } from './chat.ts'
import { Icon } from './icon.tsx'
import type { Problem, State } from './state.ts'
import { word } from './words.ts'

const LABELS = { send: 'retry', load: 'retry', ask: 'askAgain' } as const

export function ProblemNote({ chat, state, problem }: { chat: Chat; state: State; problem: Problem }) {
  return (
    <div class="problem" role="alert">
      <Icon name="warning" />
      <p dir="auto">
        {state.outgoing && problem.remedy === 'send' ? `${word('notSent')} ` : ''}
        {problem.sentence}
      </p>
      <div class="problem-buttons">
        {problem.remedy && (
          <button type="button" class="text-button" onClick={chat.remedy}>
            {word(LABELS[problem.remedy])}
          </button>
        )}
        {state.outgoing && (
          <button type="button" class="text-button" onClick={chat.discard}>
            {word('discard')}
          </button>
        )}
      </div>
    </div>
  )
}
