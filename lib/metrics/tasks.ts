import { createCounter, type Family } from './page.ts'

/** The values of tasks that are read for the page. */
interface TaskLevels {
  tasks: { kind: string; due: number; oldest_seconds: number }[] | undefined
}

/** The metrics of tasks in the background, each with a series for each kind. */
export function createTaskMetrics(kinds: readonly string[]) {
  const failed = createCounter(
    'chat_tasks_failed_total',
    'Tasks in the background that failed and are tried again',
    'kind',
    kinds,
  )
  return { failed, families: (levels: TaskLevels) => [failed.family, ...taskFamilies(kinds, levels)] }
}

function taskFamilies(kinds: readonly string[], { tasks }: TaskLevels): Family[] {
  const gauge = (
    name: string,
    help: string,
    read: (level: NonNullable<TaskLevels['tasks']>[number]) => number,
  ): Family => ({
    name,
    help,
    type: 'gauge',
    // These values are of the database, which all processes share.
    together: 'max',
    read: () =>
      (tasks ? kinds : []).map((kind) => {
        const level = tasks?.find((metric) => metric.kind === kind)
        return { labels: { kind }, value: level ? read(level) : 0 }
      }),
  })
  return [
    gauge('chat_tasks_due', 'Tasks in the background that wait for a process or are worked on', ({ due }) => due),
    gauge('chat_tasks_oldest_seconds', 'How long the oldest of those tasks has been due', ({ oldest_seconds }) =>
      Number(oldest_seconds),
    ),
  ]
}
