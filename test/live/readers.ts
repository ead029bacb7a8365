import { vi } from 'vitest'
import type { ReceivedEvent } from '../../lib/client/index.ts'
import type { Chat } from '../../lib/index.ts'
import { innerState, PASSWORD, type Person, startThread, type TestService } from '../support/service.ts'
import { signInByHand } from '../support/stream.ts'

/** The headers of a new session of the user. */
export function headersOf(service: TestService, person: Person): Promise<{ cookie: string; 'x-csrf-token': string }> {
  return signInByHand(service.base_url, person.email, PASSWORD)
}

/** A thread of {@link startThread}, with the cookies for Ada's and Grace's streams. */
export async function startReading(service: TestService) {
  const thread = await startThread(service)
  const [{ cookie }, { cookie: graces_cookie }] = [
    await headersOf(service, thread.ada),
    await headersOf(service, thread.grace),
  ]
  return { ...thread, cookie, graces_cookie }
}

/** Another conversation of the same users, like that of {@link startReading}. */
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

/** An id of the same event history with another number. */
export function withSeq(id: string, seq: number): string {
  return `${id.slice(0, id.indexOf('.'))}.${seq}`
}

/** The id of a conversation's latest event. */
export async function positionOf(person: Person, conversation_id: string): Promise<string> {
  return (await person.conversations.get(conversation_id)).stream_position!
}

/** The numbers of those events that are in the log: without `stream.ready`, whose id is a position. */
export function seqsOf(events: ReceivedEvent[]): number[] {
  return events.flatMap(({ id, event }) => (id && event.type !== 'stream.ready' ? [seqOf(id)] : []))
}

/** The next event of a type, from {@link Chat.events}: others, such as those of presence, may come before it. */
export async function nextOfType(stream: AsyncIterator<ReceivedEvent>, type: string): Promise<ReceivedEvent['event']> {
  let { event } = (await stream.next()).value as ReceivedEvent
  while (event.type !== type) event = ((await stream.next()).value as ReceivedEvent).event
  return event
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

/** `count` results of `make`, ten at a time, so that none waits for long. */
export async function inTens<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  const made: T[] = []
  while (made.length < count) {
    const next = Math.min(10, count - made.length)
    made.push(...(await Promise.all(Array.from({ length: next }, (_, index) => make(made.length + index)))))
  }
  return made
}

/** Waits until it holds; another process, or the peer, must act first. */
export function soon<T>(holds: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(holds, { interval: 2, timeout: 30_000 })
}

/** Turns of the event loop, in which all code that waits for other code runs. */
export async function turns(count = 10): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}

/** Makes the service check for changes of other processes now. */
export async function poll(chat: Chat): Promise<void> {
  // The first check may have started before, and too early.
  await innerState(chat).streams.poller.poll()
  await innerState(chat).streams.poller.poll()
}
