import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'

const MARK = { anthropic: { cacheControl: { type: 'ephemeral' } } }

const marked = (message: LanguageModelV4Message): LanguageModelV4Message => ({
  ...message,
  providerOptions: { ...message.providerOptions, ...MARK },
})

/**
 * Marks for Claude up to where a prompt can be read from the cache, of four marks that it may have: the instructions and
 * tools, which all conversations share; what was said before the newest question, which the next turns repeat; and what
 * tools returned, which the next steps repeat. The question is not marked, because what stands beside it is never read
 * again after a turn without tools.
 */
export function withCacheMarks(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const newest = prompt.findLastIndex(({ role }) => role === 'user')
  return prompt.map((message, at) => {
    const isShared = at === 0 && message.role === 'system'
    const isHistory = at === newest - 1 && message.role !== 'system'
    const isResult = at === prompt.length - 1 && message.role === 'tool'
    return isShared || isHistory || isResult ? marked(message) : message
  })
}

/** Joins the system messages at the beginning, because many servers take only one. */
export function withOneSystem(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const until = prompt.findIndex(({ role }) => role !== 'system')
  const texts = prompt
    .slice(0, until)
    .flatMap((message) => (message.role === 'system' ? message.content : []))
  return texts.length < 2 ? prompt : [{ role: 'system', content: texts.join('\n\n') }, ...prompt.slice(until)]
}
