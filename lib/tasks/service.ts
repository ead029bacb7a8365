import { assertAdmin } from '../core/actor.ts'
import { useCase } from '../core/use-case.ts'
import { type TaskPage, TasksQuery } from './schema.ts'
import { listTasks, toTaskRecord } from './store.ts'

/**
 * A page of the unfinished background tasks, oldest first.
 *
 * @throws ChatError `forbidden`
 */
export const list = useCase({
  takes: ['actor'],
  input: TasksQuery,
  run: async (ctx, actor, { after, limit }): Promise<TaskPage> => {
    assertAdmin(actor)
    const rows = await listTasks(ctx.db, after ?? '', limit + 1)
    const tasks = rows.slice(0, limit).map(toTaskRecord)
    return { tasks, ...(rows.length > limit && { next_after: tasks.at(-1)!.id }) }
  },
})
