import { vi } from 'vitest'
import type { ReceivedEvent } from '../../lib/client/index.ts'
import { contextOf } from '../../lib/core/context-of.ts'
import type { Chat } from '../../lib/index.ts'
import { PASSWORD, type Person, startThread, type TestService } from '../support/service.ts'
import { signInByHand } from '../support/stream.ts'

/** The headers of a new session of the person. */
export function headersOf(service: TestService, person: Person): Promise<{ cookie: string; 'x-csrf-token': string }> {
  return signInByHand(service.base_url, person.email, PASSWORD)
}

/** A thread as {@link startThread} has it, with the cookies that Ada's and Grace's streams are opened with. */
export async function startReading(service: TestService) {
  const thread = await startThread(service)
  const [{ cookie }, { cookie: graces_cookie }] = [
    await headersOf(service, thread.ada),
    await headersOf(service, thread.grace),
  ]
  return { ...thread, cookie, graces_cookie }
}

/** Another conversation of the same people, as {@link startReading} has it. */
export async function readAnew(reading: Awaited<ReturnType<typeof startReading>>): Promise<typeof reading> {
  const { ada, grace } = reading
  const { conversation_id } = await ada.conversations.create({ title: 'Engines' })
  await ada.participants.add(conversation_id, { user_id: grace.id })
  const root = await ada.messages.postRoot(conversation_id, { content: 'first' })
  return { ...reading, conversation_id, root }
}

/** The number in an event's id. */
export function seqOf(id: string): number {
  return Number(id.slice(id.indexOf('.') + 1))
}

/** The same history's id with another number. */
export function withSeq(id: string, seq: number): string {
  return `${id.slice(0, id.indexOf('.'))}.${seq}`
}

/** The id of a conversation's latest event. */
export async function positionOf(person: Person, conversation_id: string): Promise<string> {
  return (await person.conversations.get(conversation_id)).stream_position!
}

/** The numbers of the events of the log among these: not of `stream.ready`, whose id says where to resume. */
export function seqsOf(events: ReceivedEvent[]): number[] {
  return events.flatMap(({ id, event }) => (id && event.type !== 'stream.ready' ? [seqOf(id)] : []))
}

/** Whether this is not a presence event: presence changes when streams open and close. */
export function isNews({ event }: ReceivedEvent): boolean {
  return event.type !== 'presence.update'
}

/** The types of these events, without presence. */
export function typesOf(events: ReceivedEvent[]): string[] {
  return events.filter(isNews).map(({ event }) => event.type)
}

/** `from + 1`, …, `to`. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index + 1)
}

/** `count` results of `make`, of which ten at a time are under way: not so many that one waits for long. */
export async function inTens<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  const made: T[] = []
  while (made.length < count) {
    const next = Math.min(10, count - made.length)
    made.push(...(await Promise.all(Array.from({ length: next }, (_, index) => make(made.length + index)))))
  }
  return made
}

/** Waits until it holds; another process, or the other end of a connection, has to do something first. */
export function soon<T>(holds: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(holds, { interval: 2, timeout: 10_000 })
}

/** Turns of the event loop, in which everything that only waits for other code happens. */
export async function turns(count = 10): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}

/** Has the service look for changes of other processes now. */
export async function poll(chat: Chat): Promise<void> {
  // The first one may have been under way already, and have looked too early.
  await contextOf(chat).bus.poll()
  await contextOf(chat).bus.poll()
}
