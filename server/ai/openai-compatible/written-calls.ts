import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'

type Add = (part: LanguageModelV4StreamPart) => void

/** How a call begins that a model writes as its text: as JSON, in a fence, or in a tag of a model's template. */
const START = /^\s*(?:```[a-z]*\s*|<tool_call>\s*)?[{[]/
const MAY_START = /^\s*(?:`{0,3}|```[a-z]*\s*|<[a-z_]*|<tool_call>\s*)$/
const AROUND = /^\s*(?:```[a-z]*|<tool_call>)?|(?:```|<\/tool_call>)?\s*$/g
/** The most characters of a text that are held back to see whether it is a call. */
const LONGEST = 20_000

/**
 * Some models, and servers that do not read their templates, write a call as the text of the answer:
 * `{"name": "find_order", "arguments": {…}}`. Returns a receiver of parts that makes such a text the call that it is, if
 * the whole text is one and names a declared tool. Any other text is passed on as it arrives. Where the model was told
 * to call nothing, such a text is left out, so that the answer has no words.
 */
export function withWrittenCalls(names: ReadonlySet<string>, mayCall: boolean, add: Add): Add {
  if (names.size === 0) return add
  let held: LanguageModelV4StreamPart[] | null = null
  let text = ''
  let isCalled = false
  const release = (): void => {
    for (const part of held ?? []) add(part)
    held = null
  }
  return (part) => {
    if (part.type === 'text-start') {
      held = [part]
      text = ''
    } else if (held && part.type === 'text-delta') {
      held.push(part)
      text += part.delta
      if (text.length > LONGEST || !(START.test(text) || MAY_START.test(text))) release()
    } else if (held && part.type === 'text-end') {
      const calls = callsIn(text, names)
      if (calls.length === 0) {
        held.push(part)
        return release()
      }
      held = null
      isCalled = mayCall
      if (mayCall) for (const call of calls) addCall(add, call)
    } else if (isCalled && part.type === 'finish' && part.finishReason.unified === 'stop')
      add({ ...part, finishReason: { ...part.finishReason, unified: 'tool-calls' } })
    else add(part)
  }
}

type Written = { name: string; input: string }

/** Returns the calls that a text consists of; none if it is anything else. */
function callsIn(text: string, names: ReadonlySet<string>): Written[] {
  try {
    const written: unknown = JSON.parse(text.replace(AROUND, ''))
    const calls = (Array.isArray(written) ? written : [written]).map((one) => callOf(one, names))
    return calls.every((call) => call !== null) ? calls : []
  } catch {
    return []
  }
}

function callOf(written: unknown, names: ReadonlySet<string>): Written | null {
  if (typeof written !== 'object' || written === null) return null
  const { name, arguments: given, parameters = given } = written as Record<string, unknown>
  if (typeof name !== 'string' || !names.has(name)) return null
  if (typeof parameters === 'string') return { name, input: parameters }
  return typeof parameters === 'object' && parameters !== null
    ? { name, input: JSON.stringify(parameters) }
    : null
}

function addCall(add: Add, { name, input }: Written): void {
  const id = crypto.randomUUID()
  add({ type: 'tool-input-start', id, toolName: name })
  add({ type: 'tool-input-delta', id, delta: input })
  add({ type: 'tool-input-end', id })
  add({ type: 'tool-call', toolCallId: id, toolName: name, input })
}
