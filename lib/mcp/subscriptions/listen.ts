import { type Opening, openAll } from '../../chat/events/service.ts'
import { requireMember } from '../../chat/memberships/access.ts'
import { get as getMessage } from '../../chat/messages/service.ts'
import { findThreadConversation } from '../../chat/threads/store.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { bind } from '../../core/use-case.ts'
import type { Revocation } from '../../live/log/revocations.ts'
import type { Delivered } from '../../live/readers/delivery.ts'
import type { McpCall, McpMethod, McpStream } from '../call.ts'
import { assertDeclared } from '../extensions.ts'
import { insufficientScope, invalidParams } from '../failures.ts'
import { isObject, type Json, META, TASKS } from '../protocol.ts'
import { parseUri, type Resource } from '../resources/uri.ts'
import { createPace } from './pace.ts'
import { isAbout, removalFrom, subjectOf } from './subscribed.ts'
import { followTasks } from './tasks.ts'

/** How many resources, and how many tasks, one call can listen to. */
const MAX_SUBSCRIPTIONS = 50

/** The least time between two notifications of one resource. */
const PAUSE_MS = 1_000

/** Notifies the client of changes of resources until either side ends it. */
export const listen: McpMethod = {
  revisions: 'modern',
  async prepare(call) {
    const { ctx, actor, scopes, request } = call
    if (!scopes.has('chat:read')) throw insufficientScope('chat:read')
    const { notifications } = request.params
    if (!isObject(notifications)) throw invalidParams('"notifications" must be an object.')
    const uris = listIn(notifications, 'resourceSubscriptions')
    const taskIds = listIn(notifications, 'taskIds')
    if (taskIds) assertDeclared(call.revision, TASKS)
    const opening = await bind(ctx, openAll)(actor, {})
    return {
      streams: 'always',
      cancel: opening.cancel,
      run: (stream, signal) => follow(call, { uris, taskIds, opening, stream, signal }),
    }
  },
}

/** @throws RpcError unless it is a list of texts that is short enough, or left out */
function listIn(filter: Json, name: string): string[] | undefined {
  const list = filter[name]
  if (list === undefined) return undefined
  const isList = Array.isArray(list) && list.every((entry) => typeof entry === 'string')
  if (!isList || list.length > MAX_SUBSCRIPTIONS)
    throw invalidParams(`"${name}" must be a list of at most ${MAX_SUBSCRIPTIONS} texts.`)
  return [...new Set(list as string[])]
}

interface Following {
  uris: string[] | undefined
  taskIds: string[] | undefined
  opening: Opening
  stream: McpStream
  signal: AbortSignal
}

/** @returns the result of the call, once the service ends it */
async function follow(call: McpCall, { uris, taskIds, opening, stream, signal }: Following): Promise<Json> {
  const { ctx, actor, request } = call
  const _meta = { [META.subscription]: request.id }
  const send = (event: string, params: Json) => stream.notify(`notifications/${event}`, { ...params, _meta })
  const [resources, tasks] = await Promise.all([
    readable(ctx, actor, uris ?? []),
    followTasks(call, taskIds ?? [], (task) => send('tasks', task)),
  ]).catch((error) => {
    opening.cancel()
    throw error
  })
  const pace = createPace(PAUSE_MS, (uri) => send('resources/updated', { uri }))

  function begin(): void {
    const agreed = {
      ...(uris && { resourceSubscriptions: [...resources.keys()] }),
      ...(taskIds && { taskIds: tasks.map(({ id }) => id) }),
    }
    send('subscriptions/acknowledged', { notifications: agreed })
    // Its status may have changed since it was read.
    for (const task of tasks) task.refresh()
  }

  function take(delivered: Delivered): void {
    const { event } = delivered
    // Only from then on nothing is missed.
    if (event.type === 'stream.ready') begin()
    const removed = removalFrom(event, actor.user_id)
    const subject = subjectOf(delivered)
    for (const [uri, resource] of resources) {
      if (resource.conversation_id === removed) pace.last(uri)
      else if (subject && isAbout(subject, resource)) pace.due(uri)
    }
    // The text of an answer changes no status.
    if (subject && event.type !== 'message.delta')
      for (const task of tasks) if (task.id === subject.message_id) task.refresh()
  }

  const unobserve = ctx.streams.hub.rights.observe(async (revocations) => {
    for (const id of await unreadable(ctx, actor, { resources, revocations }))
      for (const [uri, resource] of resources) if (resource.conversation_id === id) pace.last(uri)
  })
  try {
    await connected(opening, { stream, signal, take })
  } finally {
    unobserve()
  }
  pace.end()
  return { _meta }
}

/** The conversations of resources that are deleted, or that revocations put out of the actor's reach: no event tells of it. */
async function unreadable(
  ctx: Context,
  actor: Actor,
  { resources, revocations }: { resources: ReadonlyMap<string, Resource>; revocations: Revocation[] },
): Promise<string[]> {
  const concerning = revocations.filter(({ user_id }) => !user_id || user_id === actor.user_id)
  const concernsAll = concerning.some(({ user_id, conversation_id }) => !user_id && !conversation_id)
  const revoked = new Set(concerning.map(({ conversation_id }) => conversation_id))
  const ids = new Set([...resources.values()].map(({ conversation_id }) => conversation_id))
  const lost: string[] = []
  // One after another: many listeners look at the same time.
  for (const conversation_id of [...ids].filter((id) => concernsAll || revoked.has(id)))
    if (!(await mayFollow(ctx, actor, { kind: 'conversation', conversation_id }))) lost.push(conversation_id)
  return lost
}

/** Resolves when a stream has ended: because the service ends it, or because the client has closed it. */
function connected(
  opening: Opening,
  { stream, signal, take }: Pick<Following, 'stream' | 'signal'> & { take: (delivered: Delivered) => void },
): Promise<void> {
  return new Promise((resolve) => {
    const leave = opening.connect({
      ...stream.pressure,
      write({ events }) {
        if (events.length === 0) stream.beat()
        for (const delivered of events) take(delivered)
      },
      end: resolve,
    })
    signal.addEventListener('abort', leave)
    if (signal.aborted) leave()
  })
}

/** The URIs of what the actor takes part in, each with what it names. */
async function readable(ctx: Context, actor: Actor, uris: readonly string[]): Promise<Map<string, Resource>> {
  const resources = uris.map((uri) => [uri, parseUri(uri)] as const)
  const may = await Promise.all(resources.map(([, resource]) => resource && mayFollow(ctx, actor, resource)))
  return new Map(resources.filter((_, n) => may[n]) as [string, Resource][])
}

async function mayFollow(ctx: Context, actor: Actor, resource: Resource): Promise<boolean> {
  const { conversation_id } = resource
  try {
    await requireMember(ctx, ctx.db, actor, conversation_id)
    if (resource.kind === 'thread') return (await findThreadConversation(ctx.db, resource.root_id)) === conversation_id
    if (resource.kind === 'conversation') return true
    return (await bind(ctx, getMessage)(actor, resource.message_id)).conversation_id === conversation_id
  } catch (error) {
    if (error instanceof ChatError && error.status < 500) return false
    throw error
  }
}
