import { ChatError } from '../../core/errors.ts'
import { didYouMean } from '../../core/nearest.ts'
import type { EventRow } from '../../live/log/log.ts'
import { PersistedEvent } from '../events/schema.ts'

type EventType = EventRow['type']

const TYPES: readonly EventType[] = PersistedEvent.options.map(({ entries }) => entries.type.literal)

/** The longest name that a message repeats. */
const MAX_NAME = 100

/** Parts of answers: an answer has thousands, and its end has the whole text. */
const ONLY_BY_NAME: readonly EventType[] = ['message.delta', 'message.part']

/**
 * The types of events that a list names, separated by commas. `message.*` has all whose names begin so, and `*` has all.
 *
 * @throws ChatError `validation_failed` for a name of none
 */
export function parseTypes(list = '*'): ReadonlySet<string> {
  return new Set(list.split(',').flatMap(typesOf))
}

function typesOf(name: string): readonly EventType[] {
  const types = name.endsWith('*')
    ? TYPES.filter((type) => isBelow(type, name) && !ONLY_BY_NAME.includes(type))
    : TYPES.filter((type) => type === name)
  if (types.length === 0) {
    const message = `no event has the type "${name.slice(0, MAX_NAME)}"${didYouMean(name, TYPES)}`
    throw new ChatError('validation_failed', { errors: [{ path: 'types', message }] })
  }
  return types
}

/** `*`, or a first word with `.*` behind it; `mess*` is no name. */
function isBelow(type: EventType, name: string): boolean {
  return name === '*' || (name.endsWith('.*') && type.startsWith(name.slice(0, -1)))
}

/**
 * The type of the events for which a host passes a function.
 *
 * @throws TypeError for a type that no event has, and without a function
 */
export function assertEventType(type: EventType, listener: unknown): EventType {
  if (!TYPES.includes(type))
    throw new TypeError(`chat.on: no event has the type ${String(type)}${didYouMean(String(type), TYPES)}`)
  if (typeof listener !== 'function')
    throw new TypeError("chat.on: pass a function: chat.on('message.new', (event) => …)")
  return type
}
