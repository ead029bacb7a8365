import { AnswerFailure } from '../../chat/answers/answer-failure.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
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

/** The most calls of one answer, far above what the service runs; more are dropped. */
const MAX_CALLS = 128

/** The maximum length of the arguments of one call, far above what the service takes; the rest is dropped. */
const MAX_ARGUMENTS = 256 * 1024

/**
 * Joins the fragments of calls: by `index`, where a server has none by `id`, and where it has neither by name. A fragment with
 * nothing of these belongs to the last call.
 */
export function createCalls() {
  const calls: Joined[] = []

  function find({ index, id, function: said }: CallFragment): Joined | undefined {
    const name = said?.name || undefined
    if (index != null) {
      const call = calls.findLast((call) => call.index === index)
      if (call) return begins(call, { id, name, input: said?.arguments }) ? undefined : call
    } else if (id) return calls.find((call) => call.id === id)
    // Some servers repeat the name with each fragment, others send each call whole.
    else if (name) return calls.findLast((call) => call.id === undefined && call.name === name && !isWhole(call))
    // A server may number some fragments only.
    const last = calls.at(-1)
    return name || id || (index != null && last?.index !== undefined) ? undefined : last
  }

  return {
    add(fragment: CallFragment): void {
      const { index, id, function: said } = fragment
      let call = find(fragment)
      if (!call) {
        if (calls.length === MAX_CALLS) return
        call = { index: index ?? undefined, id: id || undefined, name: '', text: '' }
        calls.push(call)
      }
      call.id ??= id || undefined
      if (said?.name && call.name !== said.name) call.name = (call.name + said.name).slice(0, MAX_LENGTH.name)
      const { arguments: input } = said ?? {}
      if (typeof input !== 'string') call.value = input ?? call.value
      else if (call.text.length <= MAX_ARGUMENTS) call.text += input
    },

    /** All of them, in the order in which they began. @throws AnswerFailure `invalid_answer` for a call without a name */
    list: (): ModelCall[] =>
      calls.map(({ id, name, text, value }) => {
        if (!name) throw new AnswerFailure('invalid_answer', 'a call of no tool')
        // The service has ids of its own: nothing is lost with one that is too long.
        return { ...(id && id.length <= MAX_LENGTH.subject && { id }), name, input: value ?? (text || '{}') }
      }),
  }
}

/** Whether a fragment with the index of a call begins another one: some servers number all calls 0, some make an id for each fragment. */
function begins(
  call: Joined,
  { id, name, input }: { id: string | null | undefined; name: string | undefined; input: unknown },
): boolean {
  if (!name || (id && id === call.id)) return false
  const isOther = Boolean(id && call.id)
  if (isWhole(call)) return isOther || (input != null && input !== '')
  return isOther && (call.text === '' || call.name !== name)
}

/** Whether a call has all of its input. A parser reads only what may be whole: it is called for each fragment. */
function isWhole({ text, value }: Joined): boolean {
  return value !== undefined || (text.trimEnd().endsWith('}') && parseJson(text) !== undefined)
}
