import type { Context } from '../context.ts'
import { type Actor, assertAdmin } from '../core/actor.ts'
import { type TaskPage, TasksQuery } from './schema.ts'
import { listTasks, toTaskRecord } from './store.ts'

/** What each use-case takes last. */
export const inputs = { list: TasksQuery }

/**
 * A page of the work that goes on after the requests that asked for it, oldest first.
 *
 * @throws ChatError `forbidden`
 */
export async function list(ctx: Context, actor: Actor, { after, limit }: TasksQuery): Promise<TaskPage> {
  assertAdmin(actor)
  const rows = await listTasks(ctx.db, after ?? '', limit + 1)
  const tasks = rows.slice(0, limit).map(toTaskRecord)
  return { tasks, ...(rows.length > limit && { next_after: tasks.at(-1)!.id }) }
}
