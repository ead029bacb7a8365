import type { Actor } from './actor.ts'
import { ChatError } from './errors.ts'

/**
 * Checks the arguments of a call before its input: one without types may have left one out.
 *
 * @param takes their names, in order
 * @throws ChatError `unauthenticated` without an actor, `validation_failed` for another argument, with its name
 */
export function assertArguments(takes: readonly string[], args: readonly unknown[]): void {
  for (const [index, name] of takes.entries()) assertArgument(name, args[index], index)
}

function assertArgument(name: string, arg: unknown, index: number): void {
  if (name === 'actor?' && arg === undefined) return
  if (name === 'actor' || name === 'actor?') {
    assertActor(arg)
    return
  }
  const [isRight, text] = expectedOf(name, arg)
  if (isRight) return
  const message = `must be ${text}`
  throw new ChatError('validation_failed', {
    message: `Argument ${index + 1}, "${name}", ${message}.`,
    errors: [{ path: name, message }],
  })
}

/** Whether an argument is of its kind, and what it must be. */
function expectedOf(name: string, arg: unknown): [isRight: boolean, text: string] {
  switch (name) {
    case 'client':
      return [typeof arg === 'object' && arg !== null, 'an object, such as { ip }']
    case 'request':
      return [arg instanceof Request, 'a Request']
    case 'endpoints':
      return [Array.isArray(arg), 'a list of endpoints']
    case 'user':
      return [typeof arg === 'string' || Object(arg).subject !== undefined, 'the id of a user, or { subject }']
    case 'call_ids':
      return [isText(arg) || isListOfIds(arg), 'an id, or a list of up to 100']
    default:
      return [typeof arg === 'string', 'a text']
  }
}

const isText = (value: unknown) => typeof value === 'string'
const isListOfIds = (value: unknown) =>
  Array.isArray(value) && value.length > 0 && value.length <= 100 && value.every(isText)

/** @throws ChatError `unauthenticated` */
export function assertActor(arg: unknown): asserts arg is Actor {
  const { user_id, roles } = (arg ?? {}) as Partial<Actor>
  if (typeof user_id === 'string' && Array.isArray(roles)) return
  throw new ChatError('unauthenticated', { message: 'The first argument must be an actor: { user_id, roles }.' })
}
