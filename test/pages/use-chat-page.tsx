import { useChat } from '@ai-sdk/react'
import { lastAssistantMessageIsCompleteWithToolCalls, type UIMessage } from 'ai'
import { useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { createParley } from '../../client/parley.ts'
import { type PendingCall, pendingToolCalls } from '../../client/ui-messages.ts'
import { createChatTransport } from '../../client/use-chat.ts'

// Under this id the conversation is found again after a reload.
const CHAT = 'support'
const agentId = document.body.dataset.agent ?? ''
const transport = createChatTransport({ parley: createParley({ baseUrl: '/parley' }), agentId })

/** What the agent may have this page do: the name of each client action, and how it is done here. */
const actions: Record<string, (input: unknown) => Promise<unknown>> = {
  read_title: async () => ({ title: document.title }),
}

function Chat({ stored }: { stored: UIMessage[] }) {
  const { messages, sendMessage, status, error, addToolOutput } = useChat({
    id: CHAT,
    messages: stored,
    transport,
    resume: true,
    onToolCall: ({ toolCall }) => void run(toolCall),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
  })

  async function run({ toolName: tool, toolCallId, input }: PendingCall) {
    try {
      if (!actions[tool]) throw new Error(`This page has no action ${tool}.`)
      void addToolOutput({ tool, toolCallId, output: await actions[tool](input) })
    } catch (failure) {
      void addToolOutput({ tool, toolCallId, state: 'output-error', errorText: String(failure) })
    }
  }

  // Actions that were waiting when the page was left.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => pendingToolCalls(stored).forEach((call) => void run(call)), [])

  const isBusy = status === 'submitted' || status === 'streaming'
  const [text, setText] = useState('')
  return (
    <section data-status={status}>
      {messages.map(({ id, role, parts }) => (
        <p key={id} data-role={role}>
          {parts.map((part) => (part.type === 'text' ? part.text : null))}
        </p>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void sendMessage({ text })
          setText('')
        }}
      >
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <button type="submit" disabled={isBusy || text === ''}>
          Send
        </button>
        <button type="button" disabled={!isBusy} onClick={() => void transport.stop(CHAT)}>
          Stop
        </button>
      </form>
    </section>
  )
}

function Page() {
  const [stored, setStored] = useState<UIMessage[]>()
  const [failure, setFailure] = useState<Error>()
  useEffect(() => void transport.loadMessages(CHAT).then(setStored, setFailure), [])
  if (failure) return <p role="alert">The conversation could not be loaded: {failure.message}</p>
  return stored ? <Chat stored={stored} /> : <p>Loading …</p>
}

createRoot(document.getElementById('chat')!).render(<Page />)
