import { AnswerFailure } from '../../chat/answers/answer-failure.ts'
import { parseJson } from './json.ts'

/** A piece of a call of a tool, as servers stream it. */
export interface CallFragment {
  index?: number | null | undefined
  id?: string | null | undefined
  function?: { name?: string | null | undefined; arguments?: unknown } | null | undefined
}

/** A whole call of a tool. */
export interface ModelCall {
  id?: string
  name: string
  /** JSON text, or a value of servers that send it as one. */
  input: unknown
}

interface Joined {
  index?: number | undefined
  id?: string | undefined
  name: string
  text: string
  value?: unknown
}

/** The most calls of one answer, far above what the service runs. */
const MAX_CALLS = 128

/** The maximum length of the arguments of one call; more is refused before it is parsed. */
const MAX_ARGUMENTS = 256 * 1024

/**
 * Joins the fragments of calls: by `index`, where a server has none by `id`, and where it has neither by name. A fragment with
 * nothing of these belongs to the last call.
 *
 * @throws AnswerFailure `invalid_answer` beyond the bounds, and for a call without a name
 */
export function createCalls() {
  const calls: Joined[] = []

  function find({ index, id, function: said }: CallFragment): Joined | undefined {
    // Some servers number all calls 0.
    const isOther = (call: Joined) => Boolean(id && call.id && call.id !== id)
    if (index != null) return calls.findLast((call) => call.index === index && !isOther(call))
    if (id) return calls.find((call) => call.id === id)
    // Some servers repeat the name with each fragment, others send each call whole.
    if (said?.name)
      return calls.findLast(
        ({ id, name, text }) => id === undefined && name === said.name && parseJson(text) === undefined,
      )
    return calls.at(-1)
  }

  return {
    add(fragment: CallFragment): void {
      const { index, id, function: said } = fragment
      let call = find(fragment)
      if (!call) {
        if (calls.length === MAX_CALLS) throw new AnswerFailure('invalid_answer', 'too many calls of tools')
        call = { index: index ?? undefined, id: id || undefined, name: '', text: '' }
        calls.push(call)
      }
      call.id ??= id || undefined
      if (said?.name && call.name !== said.name) call.name += said.name
      const { arguments: input } = said ?? {}
      if (typeof input === 'string') call.text += input
      else if (input != null) call.value = input
      if (call.text.length > MAX_ARGUMENTS) throw new AnswerFailure('invalid_answer', 'the input of a call has no end')
    },

    /** All of them, in the order in which they began. */
    list: (): ModelCall[] =>
      calls.map(({ id, name, text, value }) => {
        if (!name) throw new AnswerFailure('invalid_answer', 'a call of no tool')
        return { ...(id && { id }), name, input: value ?? (text || '{}') }
      }),
  }
}
