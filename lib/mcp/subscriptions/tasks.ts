import { ChatError, causeText } from '../../core/errors.ts'
import { repeatIfCalled } from '../../core/scheduling/once.ts'
import { findAnswer, type Task, type TaskReader, toTask } from '../tasks/task.ts'

/** A task that a client listens to. */
export interface FollowedTask {
  id: string
  /** Reads it again, and notifies the client if its status is another one. */
  refresh(): void
}

/** The tasks among these that the actor can read, as they are now. */
export async function followTasks(
  reader: TaskReader,
  ids: readonly string[],
  notify: (task: Task) => void,
): Promise<FollowedTask[]> {
  const tasks = await Promise.all(ids.map((id) => readTask(reader, id)))
  return tasks.flatMap((task, n) => (task ? [followTask(reader, { id: ids[n]!, task, notify })] : []))
}

interface Followed {
  id: string
  task: Task
  notify: (task: Task) => void
}

function followTask(reader: TaskReader, { id, task, notify }: Followed): FollowedTask {
  let shown = stateOf(task)
  const refresh = repeatIfCalled(async () => {
    const next = await readTask(reader, id)
    if (!next || stateOf(next) === shown) return
    shown = stateOf(next)
    notify(next)
  })
  return {
    id,
    refresh() {
      // The next event reads again.
      refresh().catch((error) => reader.ctx.log.warn('A task cannot be read', { cause: causeText(error) }))
    },
  }
}

/** The status, and in one that waits for input also what it waits for. */
const stateOf = ({ status, inputRequests = {} }: Task & { inputRequests?: object }) =>
  [status, ...Object.keys(inputRequests)].join()

async function readTask(reader: TaskReader, id: string): Promise<Task | undefined> {
  try {
    return await toTask(reader, await findAnswer(reader, id))
  } catch (error) {
    if (error instanceof ChatError && error.status < 500) return undefined
    throw error
  }
}
