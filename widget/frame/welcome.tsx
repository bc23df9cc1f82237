import type { Chat } from './chat.ts'
import { Face } from './header.tsx'
import { Suggestions } from './suggestions.tsx'
import type { Appearance } from './types.ts'
import { sentence, word } from './words.ts'

/** The content of a chat without messages. */
export function Welcome({ chat, appearance }: { chat: Chat; appearance: Appearance }) {
  const { initialMessages, suggestedMessages, mayEscalate } = appearance
  const own = (suggestedMessages ?? []).length > 0
  return (
    <>
      {initialMessages.length === 0 && (
        <div class="welcome">
          <Face appearance={appearance} />
          <h2 dir="auto">{appearance.stage?.welcomeMessage || word('welcome')}</h2>
        </div>
      )}
      {own ? (
        <Suggestions chat={chat} suggestions={suggestedMessages} />
      ) : (
        suggestedMessages === null && (
          <ul class="suggestions" aria-label={word('suggestions')}>
            <li>
              <button type="button" class="suggestion" onClick={() => void chat.send(word('canHelp'))}>
                {word('canHelp')}
              </button>
            </li>
            {mayEscalate && (
              <li>
                <button type="button" class="suggestion" onClick={() => void chat.askForPerson()}>
                  {sentence('person')}
                </button>
              </li>
            )}
          </ul>
        )
      )}
    </>
  )
}
